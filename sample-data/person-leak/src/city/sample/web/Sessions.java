package city.sample.web;

import java.util.LinkedHashMap;
import java.util.Map;

/** Healthy: the oldest session goes when a new one comes. */
public final class Sessions {
    private static final int OPEN = 400;
    private final Map<Long, Session> open = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Session> eldest) {
            return size() > OPEN;
        }
    };

    public Session of(long id) {
        return open.computeIfAbsent(id, Session::new);
    }
}
