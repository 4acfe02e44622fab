package zoo.hiddenbyshrinking;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import zoo.Series;

/** The heap as a whole stays as it is: what was loaded at the start is given up bit by bit, while something else adds up. */
public final class HiddenByShrinking {
    static final Map<Integer, byte[]> loaded = new HashMap<>();
    static final List<Ticket> tickets = new ArrayList<>();

    record Ticket(long number, byte[] stamp) {}

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 4000; i++) {
            loaded.put(i, new byte[260]);
        }
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 700; i++) {
                loaded.remove(round * 700 + i);
                tickets.add(new Ticket(i, new byte[200]));
            }
            Series.dump(tickets.size());
        }
    }
}
