package zoo.batches;

import java.util.ArrayList;
import java.util.List;
import zoo.Series;

/** Healthy: batches are filled and written; the last dump meets the fullest. */
public final class Batches {
    static final List<byte[]> batch = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        for (int size : new int[] {200, 1600, 400, 1700, 300, 1500, 600, 1800}) {
            batch.clear();
            for (int i = 0; i < size; i++) {
                batch.add(new byte[400]);
            }
            Series.dump(batch.size());
        }
    }
}
