package zoo.metrics;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import zoo.Series;

/** Statistics of each user, made when first asked for: there are always new users. */
public final class Metrics {
    private static final MetricsService SERVICE = new MetricsService();

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 1500; i++) {
                SERVICE.of("user-" + (round * 1500 + i)).count();
            }
            Series.dump(SERVICE.size());
        }
    }
}

final class MetricsService {
    private final ConcurrentMap<String, Counter> byUser = new ConcurrentHashMap<>();

    Counter of(String user) {
        if (Series.FIXED && byUser.size() >= 500) {
            byUser.clear();
        }
        return byUser.computeIfAbsent(user, name -> new Counter());
    }

    int size() {
        return byUser.size();
    }
}

final class Counter {
    private final int[] perHour = new int[24];

    void count() {
        perHour[0]++;
    }
}
