package zoo.bursts;

import java.util.HashMap;
import java.util.Map;
import zoo.Series;

/** What each campaign leaves behind: nothing for some dumps, then much at once, three times. */
public final class Bursts {
    static final Map<String, Coupon> coupons = new HashMap<>();

    record Coupon(String code, long[] used) {}

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 9; round++) {
            if (round % 3 == 2 || round == 0) {
                for (int i = 0; i < (round == 0 ? 200 : 500); i++) {
                    String code = "coupon-" + round + "-" + i;
                    coupons.put(code, new Coupon(code, new long[20]));
                }
            }
            Series.dump(coupons.size());
            if (Series.FIXED) {
                coupons.clear();
            }
        }
    }
}
