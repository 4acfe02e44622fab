package register.web;

import java.util.concurrent.ConcurrentHashMap;

/** Sessions of visitors: many while there is much to do, few when the day is over. Growth, but no leak. */
public final class Sessions {
    private final ConcurrentHashMap<Long, Session> sessions = new ConcurrentHashMap<>();
    private long oldest;
    private long next;

    /** Every request opens a session. */
    public void open(int request) {
        sessions.put(next, new Session(next, request));
        next++;
    }

    /** Ends all sessions but the newest ones. */
    public void expire(int keep) {
        for (; oldest < next - keep; oldest++) {
            sessions.remove(oldest);
        }
    }

    public int size() {
        return sessions.size();
    }

    /** One visitor. */
    static final class Session {
        private final long visitor;
        private final int since;

        Session(long visitor, int since) {
            this.visitor = visitor;
            this.since = since;
        }

        @Override
        public int hashCode() {
            return Long.hashCode(visitor) + since;
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }
    }
}
