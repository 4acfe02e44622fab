package zoo.logcontext;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import zoo.Series;

/** What each request puts into the context of the log stays in the map of the one thread that serves: keys differ. */
public final class LogContext {
    static final ThreadLocal<Map<String, String>> CONTEXT = ThreadLocal.withInitial(HashMap::new);

    public static void main(String[] arguments) throws Exception {
        ExecutorService server = Executors.newSingleThreadExecutor(work -> new Thread(work, "server"));
        int served = 0;
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 1500; i++) {
                String request = "request-" + served++;
                server.submit(() -> CONTEXT.get().put(request, "user of " + request)).get();
                if (Series.FIXED) {
                    server.submit(() -> CONTEXT.get().remove(request)).get();
                }
            }
            Series.dump(served);
        }
        server.shutdown();
    }
}
