package zoo.enumsingleton;

import java.util.TreeMap;
import zoo.Series;

/** The registry is the one constant of an enum, its map sorted by time. */
public final class EnumSingleton {
    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 1500; i++) {
                Measurements.INSTANCE.byTime.put((long) round * 1500 + i, new Measurement(i, i * 0.5));
            }
            if (Series.FIXED) {
                Measurements.INSTANCE.byTime.headMap(round * 1500L + 1000).clear();
            }
            Series.dump(Measurements.INSTANCE.byTime.size());
        }
    }
}

enum Measurements {
    INSTANCE;

    final TreeMap<Long, Measurement> byTime = new TreeMap<>();
}

record Measurement(double value, double error) {}
