package zoo.threadsneverend;

import java.util.concurrent.CountDownLatch;
import zoo.Series;

/** A thread for each connection that waits for an answer which never comes: the roots themselves become more. */
public final class ThreadsNeverEnd {
    static final CountDownLatch NEVER = new CountDownLatch(1);

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            CountDownLatch running = new CountDownLatch(25);
            for (int i = 0; i < 25; i++) {
                Thread poller = new Thread(() -> poll(running), "poller-" + (round * 25 + i));
                poller.setDaemon(true);
                poller.start();
            }
            running.await();
            Series.dump((round + 1) * 25);
        }
    }

    static void poll(CountDownLatch running) {
        byte[] buffer = new byte[20_000];
        running.countDown();
        try {
            NEVER.await();
        } catch (InterruptedException e) {
            System.out.println("interrupted with " + buffer.length);
        }
    }
}
