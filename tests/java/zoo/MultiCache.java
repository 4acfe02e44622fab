package zoo.multicache;

import java.util.HashMap;
import java.util.Map;
import zoo.Series;

/** Two static maps that hold the same products: together they own what neither owns alone. */
public final class MultiCache {
    static final Map<Integer, Product> byId = new HashMap<>();
    static final Map<String, Product> byName = new HashMap<>();

    record Product(Integer id, String name, long[] prices) {}

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            if (Series.FIXED) {
                byId.clear();
                byName.clear();
            }
            for (int i = 0; i < 1000; i++) {
                int id = round * 1000 + i;
                Product product = new Product(id, "product " + id, new long[16]);
                byId.put(product.id(), product);
                byName.put(product.name(), product);
            }
            Series.dump(byId.size());
        }
    }
}
