package zoo.mapoflists;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import zoo.Series;

/** Orders by customer: always the same forty customers, whose lists all grow alike. No single list holds much. */
public final class MapOfLists {
    public static void main(String[] arguments) throws Exception {
        int orders = 0;
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 3000; i++) {
                List<Order> all = Orders.byCustomer.computeIfAbsent("customer " + i % 40, name -> new ArrayList<>());
                all.add(new Order(i, new int[20]));
                if (Series.FIXED && all.size() > 20) {
                    all.remove(0);
                }
                orders++;
            }
            Series.dump(orders);
        }
    }
}

final class Orders {
    static final Map<String, List<Order>> byCustomer = new HashMap<>();
}

record Order(long number, int[] articles) {}
