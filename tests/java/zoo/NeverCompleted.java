package zoo.nevercompleted;

import java.util.concurrent.CompletableFuture;
import zoo.Series;

/** Whoever asks waits for a future that is never completed: a stack of completions hangs on it. */
public final class NeverCompleted {
    static final CompletableFuture<String> configuration = new CompletableFuture<>();

    record Waiting(int number, byte[] request) {
        void go(String with) {
            System.out.println(with + request.length);
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 700; i++) {
                Waiting waiting = new Waiting(i, new byte[250]);
                configuration.thenAccept(waiting::go);
            }
            Series.dump(configuration.getNumberOfDependents());
        }
    }
}
