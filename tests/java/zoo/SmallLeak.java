package zoo.smallleak;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import zoo.Series;

/** A slow leak beside a large cache whose size goes up and down by more than what leaks in a round. */
public final class SmallLeak {
    static final Map<Integer, byte[]> pages = new LinkedHashMap<>();
    static final Set<Subscription> subscriptions = new HashSet<>();
    static final int[] PAGES = {900, 1000, 880, 990, 930, 960};

    record Subscription(int customer, String topic, long since) {}

    public static void main(String[] arguments) throws Exception {
        Random random = new Random(1);
        for (int round = 0; round < PAGES.length; round++) {
            pages.clear();
            for (int i = 0; i < PAGES[round]; i++) {
                pages.put(i, new byte[3500 + random.nextInt(1000)]);
            }
            if (Series.FIXED) {
                subscriptions.clear();
            }
            for (int i = 0; i < 400; i++) {
                subscriptions.add(new Subscription(i, "topic " + round + "-" + i, round));
            }
            Series.dump(subscriptions.size());
        }
    }
}
