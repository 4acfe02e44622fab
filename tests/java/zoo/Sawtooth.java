package zoo.sawtooth;

import java.util.ArrayList;
import java.util.List;
import zoo.Series;

/** Healthy: a batch that is filled and written, again and again; the dumps meet it anywhere. */
public final class Sawtooth {
    static final List<Row> batch = new ArrayList<>();
    static final int[] WHERE = {1400, 300, 1800, 900, 100, 1500};

    record Row(int number, String text) {}

    public static void main(String[] arguments) throws Exception {
        for (int where : WHERE) {
            for (int i = 0; i < 3 * 2000 + where; i++) {
                if (batch.size() == 2000) {
                    batch.clear();
                }
                batch.add(new Row(i, "the text of row " + i));
            }
            while (batch.size() != where) {
                if (batch.size() == 2000) {
                    batch.clear();
                }
                batch.add(new Row(0, new String("more")));
            }
            Series.dump(batch.size());
        }
    }
}
