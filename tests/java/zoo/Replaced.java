package zoo.replaced;

import java.util.ArrayList;
import java.util.List;
import zoo.Series;

/** An immutable list that is replaced by one with a further element at each change: another object each time, of one array. */
public final class Replaced {
    static volatile List<Rule> rules = List.of();

    record Rule(String pattern, String action) {}

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 10; i++) {
                List<Rule> more = new ArrayList<>(Series.FIXED ? List.of() : rules);
                for (int j = 0; j < 60; j++) {
                    more.add(new Rule("pattern " + round + i + j, "do " + j));
                }
                rules = List.copyOf(more);
            }
            Series.dump(rules.size());
        }
    }
}
