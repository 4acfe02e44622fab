package zoo.transferqueue;

import java.util.concurrent.LinkedTransferQueue;
import zoo.Series;

/** Quotes are handed to a feed whose reader has gone. */
public final class TransferQueue {
    static final class Feed {
        private final LinkedTransferQueue<Quote> inbox = new LinkedTransferQueue<>();

        void publish(Quote quote) {
            inbox.put(quote);
        }

        int waiting() {
            return inbox.size();
        }
    }

    record Quote(int number, double bid, double ask) {}

    public static void main(String[] arguments) throws Exception {
        Feed feed = new Feed();
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 1600; i++) {
                feed.publish(new Quote(i, i, i + 0.1));
                if (Series.FIXED) {
                    feed.inbox.poll();
                }
            }
            Series.dump(feed.waiting());
        }
        System.out.println(feed.inbox.peek());
    }
}
