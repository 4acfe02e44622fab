import java.util.*;
import java.util.concurrent.*;

/**
 * Data structures whose numbers of elements are known: each has a number of its own where that is possible.
 */
public class Structures {
    /** An element that is in no other structure. */
    static class Item implements Delayed {
        final int number;

        Item(int number) {
            this.number = number;
        }

        @Override
        public int compareTo(Delayed other) {
            return Integer.compare(number, ((Item) other).number);
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return 1_000_000;
        }
    }

    /** A structure that no shipped file describes: a table of chains, with a name. */
    static class Depot {
        final String title;
        final Shelf[] shelves = new Shelf[16];
        int filled;

        Depot(String title) {
            this.title = title;
        }

        void put(Item item) {
            shelves[filled % 16] = new Shelf(item, shelves[filled % 16]);
            filled++;
        }
    }

    static class Shelf {
        final Item item;
        final Shelf next;

        Shelf(Item item, Shelf next) {
            this.item = item;
            this.next = next;
        }
    }

    /** A subtype with a field of the same name as that of its supertype. */
    static class Sized extends HashMap<Item, Item> {
        int size = 12345;
    }

    static final List<Object> all = new ArrayList<>();

    static <C extends Collection<Item>> void add(C into, int count) {
        for (int i = 0; i < count; i++) {
            into.add(new Item(i));
        }
        all.add(into);
    }

    static <M extends Map<Item, Item>> void put(M into, int count) {
        for (int i = 0; i < count; i++) {
            into.put(new Item(i), new Item(-i));
        }
        all.add(into);
    }

    static class ItemKey extends Item {
        ItemKey(int number) {
            super(number);
        }

        /** All in few slots, so that they become trees. */
        @Override
        public int hashCode() {
            return number % 3;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof ItemKey && ((ItemKey) other).number == number;
        }
    }

    public static void main(String[] arguments) throws Exception {
        add(new ArrayList<>(), 101);
        add(new Vector<>(), 102);
        add(new ArrayDeque<>(), 103);
        add(new PriorityQueue<>(), 104);
        add(new LinkedList<>(), 105);
        add(new HashSet<>(), 106);
        add(new TreeSet<>(), 107);
        add(new CopyOnWriteArrayList<>(), 108);
        add(new CopyOnWriteArraySet<>(), 109);
        add(new LinkedBlockingQueue<>(), 110);
        add(new LinkedBlockingDeque<>(), 111);
        add(new ArrayBlockingQueue<>(200), 112);
        add(new PriorityBlockingQueue<>(), 113);
        add(new DelayQueue<>(), 114);
        add(new ConcurrentSkipListSet<>(), 115);
        add(new LinkedHashSet<>(), 116);
        ArrayDeque<Item> ring = new ArrayDeque<>(16);
        for (int i = 0; i < 30; i++) {
            ring.add(new Item(i));
            if (i >= 12) {
                ring.poll();
            }
        }
        // Twelve elements, whose tail lies before their head.
        all.add(ring);
        put(new HashMap<>(), 201);
        put(new LinkedHashMap<>(), 202);
        put(new TreeMap<>(), 203);
        put(new Hashtable<>(), 204);
        put(new IdentityHashMap<>(), 205);
        put(new ConcurrentHashMap<>(), 206);
        put(new ConcurrentSkipListMap<>(), 207);
        put(new Sized(), 208);
        WeakHashMap<Item, Item> weak = new WeakHashMap<>();
        put(weak, 209);
        // Its keys stay.
        all.add(weak.keySet().toArray());
        HashMap<Item, Item> trees = new HashMap<>();
        for (int i = 0; i < 210; i++) {
            trees.put(new ItemKey(i), new Item(i));
        }
        all.add(trees);
        EnumMap<TimeUnit, Item> units = new EnumMap<>(TimeUnit.class);
        for (TimeUnit unit : TimeUnit.values()) {
            units.put(unit, new Item(0));
        }
        all.add(units);
        Item[] some = {new Item(1), new Item(2), new Item(3)};
        all.add(Arrays.asList(some));
        all.add(List.of(some));
        all.add(Set.of(some));
        Properties properties = new Properties();
        properties.put("only", new Item(1));
        all.add(properties);
        all.add(Collections.synchronizedMap(new HashMap<>(Map.of(new Item(7), new Item(8)))));
        add(Collections.newSetFromMap(new ConcurrentHashMap<>()), 117);
        add(ConcurrentHashMap.newKeySet(), 118);
        Depot depot = new Depot("the depot");
        for (int i = 0; i < 301; i++) {
            depot.put(new Item(i));
        }
        all.add(depot);
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
    }
}
