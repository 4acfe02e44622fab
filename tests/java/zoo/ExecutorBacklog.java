package zoo.executorbacklog;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import zoo.Series;

/** Mails are handed to a pool whose two threads hang in the mail server: its queue has no limit. Only the threads hold the pool. */
public final class ExecutorBacklog {
    static final CountDownLatch NEVER = new CountDownLatch(1);

    static final class SendMail implements Runnable {
        private final byte[] text = new byte[400];

        @Override
        public void run() {
            try {
                NEVER.await();
            } catch (InterruptedException e) {
                text[0] = 1;
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        ExecutorService mails = Executors.newFixedThreadPool(2);
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 800; i++) {
                mails.execute(new SendMail());
            }
            Series.dump((round + 1) * 800 - 2);
        }
        mails.shutdownNow();
    }
}
