package zoo.lrucache;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import zoo.Series;

/** Healthy: a bounded cache under load, full since before the first dump; what is in it changes, and how long each value is. */
public final class LruCache {
    static final Map<Integer, byte[]> recent = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, byte[]> eldest) {
            return size() > 1000;
        }
    };

    public static void main(String[] arguments) throws Exception {
        Random random = new Random(3);
        for (int round = -1; round < 5; round++) {
            for (int i = 0; i < 4000; i++) {
                recent.put(random.nextInt(20_000), new byte[500 + random.nextInt(500)]);
            }
            if (round >= 0) {
                Series.dump(recent.size());
            }
        }
    }
}
