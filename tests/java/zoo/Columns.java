package zoo.columns;

import java.util.Arrays;
import zoo.Series;

/** A table by columns, arrays of numbers that are grown by hand: no object becomes more. */
public final class Columns {
    static final Table samples = new Table();

    static final class Table {
        long[] times = new long[16];
        double[] values = new double[16];
        int[] sensors = new int[16];
        int rows;

        void add(long time, double value, int sensor) {
            if (rows == times.length) {
                int more = rows + 1000;
                times = Arrays.copyOf(times, more);
                values = Arrays.copyOf(values, more);
                sensors = Arrays.copyOf(sensors, more);
            }
            times[rows] = time;
            values[rows] = value;
            sensors[rows++] = sensor;
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 9000; i++) {
                samples.add(i, 0.5 * i, i % 7);
            }
            Series.dump(samples.rows);
        }
    }
}
