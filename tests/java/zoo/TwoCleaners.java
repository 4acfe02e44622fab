package zoo.twocleaners;

import java.lang.ref.Cleaner;
import zoo.Series;

/**
 * Sessions that the action of their cleaner keeps, as in KeptByCleaners; and ten times as many connections in a pool, whose cleaners
 * are as they should be.
 */
public final class TwoCleaners {
    static final Cleaner CLEANER = Cleaner.create();
    static final Cleaner OF_POOL = Cleaner.create();
    static final Connection[] pool = new Connection[36_000];

    static final class Close implements Runnable {
        @Override
        public void run() {}
    }

    static final class Connection {
        Connection() {
            OF_POOL.register(this, new Close());
        }
    }

    static final class Session {
        final byte[] buffer = new byte[400];

        Session() {
            CLEANER.register(this, () -> buffer[0] = (byte) hashCode());
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < pool.length; i++) {
            pool[i] = new Connection();
        }
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 900; i++) {
                new Session();
            }
            Series.dump(900 * (round + 1));
        }
    }
}
