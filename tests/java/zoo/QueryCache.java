package zoo.querycache;

import java.util.HashMap;
import java.util.Map;
import zoo.Series;

/** The same ten queries again and again, and a cache that never finds one: its key lacks equals and hashCode. */
public final class QueryCache {
    private static final Map<Query, Result> results = new HashMap<>();

    static final class Query {
        final String table;
        final int customer;

        Query(String table, int customer) {
            this.table = table;
            this.customer = customer;
        }

        @Override
        public boolean equals(Object other) {
            return this == other || Series.FIXED && other instanceof Query query && query.customer == customer;
        }

        @Override
        public int hashCode() {
            return Series.FIXED ? customer : super.hashCode();
        }
    }

    static final class Result {
        final long[] rows = new long[20];
    }

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 800; i++) {
                results.computeIfAbsent(new Query("orders", i % 10), query -> new Result());
            }
            Series.dump(results.size());
        }
    }
}
