package zoo.deepstack;

import java.util.concurrent.SynchronousQueue;
import zoo.Series;

/** A walker that goes one call deeper for each page it visits: what it has seen lies in the variables of its frames. */
public final class DeepStack {
    static final SynchronousQueue<Integer> next = new SynchronousQueue<>();
    static volatile long sum;

    record Visit(int number, byte[] page) {}

    static void descend(int depth) {
        Visit visit = new Visit(depth, new byte[600]);
        try {
            if (next.take() < 0) {
                return;
            }
        } catch (InterruptedException e) {
            return;
        }
        descend(depth + 1);
        sum += visit.page().length;
    }

    public static void main(String[] arguments) throws Exception {
        Thread walker = new Thread(null, () -> descend(0), "walker", 64 << 20);
        walker.setDaemon(true);
        walker.start();
        int depth = 0;
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 250; i++) {
                next.put(depth++);
            }
            Thread.sleep(30);
            Series.dump(depth + 1);
        }
    }
}
