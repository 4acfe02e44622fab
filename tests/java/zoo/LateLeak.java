package zoo.lateleak;

import java.util.ArrayList;
import java.util.List;
import zoo.Series;

/** All is well for half of the day; then a feature is switched on that forgets nothing. */
public final class LateLeak {
    static final List<Recommendation> shown = new ArrayList<>();

    record Recommendation(int visitor, int[] articles) {}

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 8; round++) {
            for (int i = 0; i < (round < 4 ? 5 : 700); i++) {
                shown.add(new Recommendation(i, new int[40]));
                if (Series.FIXED && shown.size() > 20) {
                    shown.remove(0);
                }
            }
            Series.dump(shown.size());
        }
    }
}
