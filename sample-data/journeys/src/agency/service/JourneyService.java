package agency.service;

import agency.store.JourneyStore;
import agency.store.Location;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Finds journeys. What was found once need not be asked for again: it is kept by the question. */
public final class JourneyService {
    /** The leak: it has neither equals nor hashCode, so no question is ever the same as one before. */
    static final class QueryKey {
        final String name;
        final int most;

        QueryKey(String name, int most) {
            this.name = name;
            this.most = most;
        }
    }

    private final JourneyStore store;
    private final Map<QueryKey, List<Location>> locationCache = new ConcurrentHashMap<>();

    public JourneyService(JourneyStore store) {
        this.store = store;
    }

    public List<Location> findLocations(String name, int most) throws SQLException {
        QueryKey key = new QueryKey(name, most);
        List<Location> found = locationCache.get(key);
        if (found == null) {
            found = store.locations(name, most);
            locationCache.put(key, found);
        }
        return found;
    }

    public int cached() {
        return locationCache.size();
    }
}
