package register.report;

import java.util.TreeMap;

/** Requests per day of the year: a tree map of counters that are changed, never added to. */
public final class Statistics {
    private final TreeMap<Integer, Day> days = new TreeMap<>();

    public Statistics(int count) {
        for (int i = 0; i < count; i++) {
            days.put(i, new Day());
        }
    }

    public void count(int day, int weight) {
        days.get(day).count(weight);
    }

    /** The counters of one day. */
    static final class Day {
        private final long[] perHour = new long[24];

        void count(int weight) {
            perHour[weight % 24]++;
        }
    }
}
