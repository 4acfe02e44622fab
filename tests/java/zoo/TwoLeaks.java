package zoo.twoleaks;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import zoo.Series;

/** Two at once: audit events that are never written, and carts of customers who left, a third as many bytes. */
public final class TwoLeaks {
    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 900; i++) {
                Audit.events.add(new AuditEvent("login", new byte[300]));
                if (i % 3 == 0) {
                    Carts.byCustomer.put("customer " + round + "-" + i, new Cart());
                }
            }
            Series.dump(Audit.events.size());
        }
    }
}

final class Audit {
    static final List<AuditEvent> events = new ArrayList<>();
}

record AuditEvent(String what, byte[] details) {}

final class Carts {
    static final Map<String, Cart> byCustomer = new HashMap<>();
}

final class Cart {
    final int[] articles = new int[40];
}
