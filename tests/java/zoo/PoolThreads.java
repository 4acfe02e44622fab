package zoo.poolthreads;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import zoo.Series;

/** Healthy: a pool of eight threads, made when needed, each with a buffer in a ThreadLocal; all are there by the third dump. */
public final class PoolThreads {
    static final ThreadLocal<byte[]> BUFFER = ThreadLocal.withInitial(() -> new byte[30_000]);

    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        int[] load = {3, 6, 12, 40, 40, 25, 40};
        for (int jobs : load) {
            List<Callable<Integer>> work = new ArrayList<>();
            for (int i = 0; i < jobs; i++) {
                int fill = i;
                work.add(() -> {
                    // So that each thread gets some.
                    Thread.sleep(1);
                    byte[] buffer = BUFFER.get();
                    java.util.Arrays.fill(buffer, (byte) fill);
                    return buffer.length;
                });
            }
            pool.invokeAll(work);
            work = null;
            Series.dump(Math.min(jobs, 8));
        }
        pool.shutdown();
    }
}
