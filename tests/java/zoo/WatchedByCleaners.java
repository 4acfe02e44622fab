package zoo.watchedbycleaners;

import java.lang.ref.Cleaner;
import java.util.ArrayList;
import java.util.List;
import zoo.Series;

/** Connections that are never closed. Each has a cleaner, which the JDK lists for as long as it is alive: that list is not to be mended. */
public final class WatchedByCleaners {
    static final Cleaner CLEANER = Cleaner.create();
    static final List<Connection> open = new ArrayList<>();

    static final class Close implements Runnable {
        final byte[] handle = new byte[180];

        @Override
        public void run() {
            handle[0] = 1;
        }
    }

    static final class Connection {
        final byte[] buffer = new byte[160];

        Connection() {
            CLEANER.register(this, new Close());
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 900; i++) {
                open.add(new Connection());
            }
            Series.dump(open.size());
        }
    }
}
