package zoo.sharednames;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import zoo.Series;

/** Orders are forgotten and their numbers are not: thousands of numbers are shared by two tables. A few longer ones are in another list. */
public final class SharedNames {
    static final Map<Number, Integer> byNumber = new HashMap<>();
    static final List<Order> placed = new ArrayList<>();
    static final List<Number> reserved = new ArrayList<>();

    static final class Number {
        final byte[] text;

        Number(int length) {
            text = new byte[length];
        }
    }

    static final class Order {
        final Number number;

        Order(Number number) {
            this.number = number;
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 1000; i++) {
                Number number = new Number(240);
                byNumber.put(number, i);
                placed.add(new Order(number));
            }
            Number longer = new Number(2000);
            byNumber.put(longer, -1);
            reserved.add(longer);
            Series.dump(placed.size());
        }
    }
}
