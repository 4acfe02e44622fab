package zoo.threadlocals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import zoo.Series;

/** Each thread of a pool has a list of the requests it served, in a ThreadLocal that is never emptied. */
public final class ThreadLocals {
    static final ThreadLocal<List<Request>> HISTORY = ThreadLocal.withInitial(ArrayList::new);

    record Request(String path, byte[] body) {}

    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        int served = 0;
        for (int round = 0; round < 4; round++) {
            List<Callable<Boolean>> work = new ArrayList<>();
            for (int i = 0; i < 1200; i++) {
                String path = "/order/" + i;
                work.add(() -> {
                    List<Request> history = HISTORY.get();
                    if (Series.FIXED && history.size() >= 20) {
                        history.clear();
                    }
                    return history.add(new Request(path, new byte[300]));
                });
            }
            pool.invokeAll(work);
            served += work.size();
            work = null;
            Series.dump(served);
        }
        pool.shutdown();
    }
}
