package zoo.finalizerbacklog;

import java.util.concurrent.CountDownLatch;
import zoo.Series;

/** One finalizer waits for ever: all others wait behind it. */
public final class FinalizerBacklog {
    static final CountDownLatch NEVER = new CountDownLatch(1);

    public static void main(String[] arguments) throws Exception {
        new Blocking();
        System.gc();
        Thread.sleep(100);
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 1500; i++) {
                new Handle();
            }
            // By the first collection they become finalizable.
            System.gc();
            Series.untilCleared();
            Series.dump((round + 1) * 1500);
        }
        Runtime.getRuntime().halt(0);
    }

    static final class Blocking {
        @Override
        @SuppressWarnings({"deprecation", "removal"})
        protected void finalize() throws Throwable {
            NEVER.await();
        }
    }

    static final class Handle {
        final byte[] buffer = new byte[300];

        @Override
        @SuppressWarnings({"deprecation", "removal"})
        protected void finalize() {
            buffer[0] = 1;
        }
    }
}
