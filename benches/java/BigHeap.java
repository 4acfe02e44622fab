import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A heap of many small objects in the proportions of a business application: maps of strings, linked lists of records
 * with boxed numbers, object and primitive arrays. About 100 bytes of dump a unit of SCALE; the default gives 23 million
 * objects and a dump of about one gigabyte.
 */
public final class BigHeap {
    static final class Order {
        final long id;
        final Integer amount;
        final Customer customer;
        Order previous;

        Order(long id, int amount, Customer customer, Order previous) {
            this.id = id;
            this.amount = amount;
            this.customer = customer;
            this.previous = previous;
        }
    }

    static final class Customer {
        final String name;
        final int[] visits;
        Object[] marks;

        Customer(String name, int visits) {
            this.name = name;
            this.visits = new int[visits];
        }
    }

    static final Map<String, Customer> customers = new HashMap<>();
    static final List<Order> orders = new ArrayList<>();
    static final LinkedList<Object> queue = new LinkedList<>();

    public static void main(String[] arguments) throws Exception {
        int units = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1_500_000;
        Random random = new Random(42);
        List<Customer> known = new ArrayList<>();
        Order last = null;
        for (int i = 0; i < units; i++) {
            Customer customer = new Customer("customer " + i, i % 6);
            customers.put(customer.name, customer);
            known.add(customer);
            for (int k = 0; k < 4; k++) {
                Customer buyer = known.get(random.nextInt(known.size()));
                last = new Order(i * 4L + k, 1000 + random.nextInt(1_000_000), buyer, k == 0 ? null : last);
            }
            orders.add(last);
            if (i % 4 == 0) {
                customer.marks = new Object[] {known.get(random.nextInt(known.size())), last, null, null};
                queue.add(new long[] {i});
            }
        }
        known = null;
        System.gc();
        System.out.println("ready " + ProcessHandle.current().pid());
        while (System.in.read() >= 0) {
            // The heap rests.
        }
    }
}
