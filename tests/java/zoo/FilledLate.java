package zoo.filledlate;

import java.util.LinkedHashMap;
import java.util.Map;
import zoo.Series;

/** Healthy: a bounded cache that is first used in the middle of the day, is full soon after, and then changes. */
public final class FilledLate {
    static final Map<Integer, byte[]> recent = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, byte[]> eldest) {
            return size() > 1500;
        }
    };

    public static void main(String[] arguments) throws Exception {
        int[] asked = {20, 20, 20, 20, 500, 1100, 3000, 3000, 3000};
        int key = 0;
        for (int much : asked) {
            for (int i = 0; i < much; i++) {
                recent.put(key++, new byte[500]);
            }
            Series.dump(recent.size());
        }
    }
}
