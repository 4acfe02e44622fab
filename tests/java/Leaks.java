import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Three programs that leak, and a healthy one that allocates as much: `persons` go into a list, `queries` into a cache whose key
 * has neither equals nor hashCode, `pools` into a map, one for each host; `healthy` replaces what it holds. With -Dclears=true
 * persons are thrown away when the program ends. -Dpause=N is how many milliseconds it rests after ten requests.
 */
public final class Leaks {
    record Person(String name, int[] visits) {}

    static final class QueryKey {
        final String text;

        QueryKey(String text) {
            this.text = text;
        }
    }

    static final class Pool {
        final List<byte[]> buffers = new ArrayList<>();
    }

    static final List<Person> PERSONS = new LinkedList<>();
    static final Map<QueryKey, long[]> RESULTS = new HashMap<>();
    static final Map<String, Pool> POOLS = new HashMap<>();
    static final Object[] WINDOW = new Object[20_000];
    static final Random RANDOM = new Random(4711);
    static volatile Object sink;

    static void register(int number) {
        PERSONS.add(new Person("person " + number, new int[20])); // here: persons
    }

    static long[] query(String text) {
        return RESULTS.computeIfAbsent(new QueryKey(text), key -> new long[30]); // here: queries
    }

    static Pool poolOf(String host) {
        Pool pool = POOLS.get(host);
        if (pool == null) {
            pool = new Pool();
            pool.buffers.add(new byte[256]); // here: pools
            POOLS.put(host, pool);
        }
        return pool;
    }

    /** What every request does: text, and something that lives for a while in place of something else. */
    static void churn(int number) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 10; i++) {
            text.append("row ").append(number + i).append('\n');
        }
        sink = text.toString();
        for (int i = 0; i < 3; i++) {
            hold(RANDOM.nextInt(WINDOW.length));
        }
    }

    /** One line for what is there from the start and what comes in its place: what it has alive stays the same. */
    static void hold(int place) {
        WINDOW[place] = new long[1 + RANDOM.nextInt(39)];
    }

    public static void main(String[] arguments) throws Exception {
        long until = System.currentTimeMillis() + Long.parseLong(arguments[1]);
        // What a program has when it has started.
        for (int i = 0; i < WINDOW.length; i++) {
            hold(i);
        }
        if (Boolean.getBoolean("clears")) {
            Runtime.getRuntime().addShutdownHook(new Thread(PERSONS::clear));
        }
        System.out.println("ready " + ProcessHandle.current().pid());
        for (int n = 0; System.currentTimeMillis() < until; n++) {
            churn(n);
            switch (arguments[0]) {
                case "persons" -> register(n);
                case "queries" -> sink = query("select " + n % 100);
                case "pools" -> sink = poolOf("host" + n + ".example.org");
                default -> {}
            }
            if (n % 10 == 0) {
                Thread.sleep(Integer.getInteger("pause", 1));
            }
        }
        System.out.println("done");
    }
}
