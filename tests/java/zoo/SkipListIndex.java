package zoo.skiplistindex;

import java.util.concurrent.ConcurrentSkipListMap;
import zoo.Series;

/** Sessions by the time at which they end; the end is pushed back at each visit, and the old entry stays. A field of a superclass holds the map. */
public final class SkipListIndex {
    private static final Sessions SESSIONS = new Sessions();

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 1200; i++) {
                SESSIONS.visit(round * 1200L + i);
            }
            Series.dump(SESSIONS.size());
        }
    }
}

abstract class Expiring<T> {
    private final ConcurrentSkipListMap<Long, T> byEnd = new ConcurrentSkipListMap<>();

    void touch(long end, T what) {
        if (Series.FIXED) {
            byEnd.headMap(end - 100).clear();
        }
        byEnd.put(end, what);
    }

    int size() {
        return byEnd.size();
    }
}

final class Sessions extends Expiring<Sessions.Session> {
    record Session(long user, byte[] state) {}

    void visit(long now) {
        touch(now + 30, new Session(now % 50, new byte[120]));
    }
}
