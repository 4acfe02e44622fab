package zoo.lazytables;

import java.util.ArrayList;
import java.util.List;
import zoo.Series;

/** Healthy: tables that are made when the first report is asked for, late, and then stay. */
public final class LazyTables {
    record Rate(int zone, double[] byWeight) {}

    static List<Rate> rates;

    static List<Rate> rates() {
        if (rates == null) {
            rates = new ArrayList<>();
            for (int zone = 0; zone < 900; zone++) {
                rates.add(new Rate(zone, new double[60]));
            }
        }
        return rates;
    }

    public static void main(String[] arguments) throws Exception {
        double sum = 0;
        for (int round = 0; round < 8; round++) {
            for (int i = 0; round >= 5 && i < 100; i++) {
                sum += rates().get(i).byWeight()[i % 60];
            }
            Series.dump(rates == null ? 0 : rates.size());
        }
        System.out.println("sum " + sum);
    }
}
