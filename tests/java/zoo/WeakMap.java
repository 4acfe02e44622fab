package zoo.weakmap;

import java.util.Map;
import java.util.WeakHashMap;
import zoo.Series;

/** A WeakHashMap that forgets nothing: each value refers to its key. */
public final class WeakMap {
    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 800; i++) {
                Connection connection = new Connection(round * 800 + i);
                Registry.details.put(connection, new Details(connection));
            }
            Series.dump(Registry.details.size());
        }
    }
}

final class Registry {
    static final Map<Connection, Details> details = new WeakHashMap<>();
}

final class Connection {
    final int number;
    final byte[] buffer = new byte[256];

    Connection(int number) {
        this.number = number;
    }
}

final class Details {
    final Connection of;
    long bytes;

    Details(Connection of) {
        this.of = Series.FIXED ? null : of;
    }
}
