import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * Rounds of the same work, each timed: a line on standard input is one round, a line the answer: nanoseconds by the clock, and of
 * all cores that the process used; young collections, and nanoseconds that they took.
 */
public final class Rounds {
    interface Work {
        void round() throws Exception;
    }

    static volatile Object sink;

    public static void main(String[] arguments) throws Exception {
        Work work = switch (arguments[0]) {
            case "h2" -> h2(arguments.length > 1 ? Integer.parseInt(arguments[1]) : 20_000);
            case "tomcat" -> (Work) Class.forName("TomcatRounds").getDeclaredConstructor().newInstance();
            case "lucene" -> (Work) Class.forName("LuceneRounds").getDeclaredConstructor().newInstance();
            case "heap" -> heap(Integer.parseInt(arguments[1]));
            case "held" -> held(Integer.parseInt(arguments[1]));
            default -> Rounds::allocate;
        };
        serve(work);
    }

    static void serve(Work work) throws Exception {
        OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        GarbageCollectorMXBean young = ManagementFactory.getGarbageCollectorMXBeans().get(0);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready " + ProcessHandle.current().pid());
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            long begun = System.nanoTime();
            long used = process.getProcessCpuTime();
            long count = young.getCollectionCount();
            long paused = young.getCollectionTime();
            work.round();
            System.out.println((System.nanoTime() - begun) + " " + (process.getProcessCpuTime() - used) + " "
                    + (young.getCollectionCount() - count) + " " + (young.getCollectionTime() - paused) * 1_000_000);
        }
    }

    /** Does nothing but allocate: small objects, strings, maps; some live for a while. */
    static void allocate() {
        ArrayDeque<Object> kept = new ArrayDeque<>();
        for (int i = 0; i < 6_000_000; i++) {
            Map<Integer, String> map = new HashMap<>();
            map.put(i, "value " + i);
            kept.add(map);
            if (kept.size() > 20_000) {
                kept.poll();
            }
            sink = new int[i % 64];
        }
    }

    static Object[] held;

    /** So many objects that stay, and a little that dies. */
    static Work heap(int objects) {
        held = new Object[objects / 2];
        for (int i = 0; i < held.length; i++) {
            held[i] = new Object[] {i % 3 == 0 ? new int[i % 8] : "value".toCharArray(), null};
        }
        return () -> {
            for (int i = 0; i < 6_000_000; i++) {
                sink = new int[i % 64];
            }
        };
    }

    /**
     * Holds as many, and works more than it allocates: about 100 MB in a second. What it works on is a chain of shifts: compilers
     * put a chain of products into one, newer ones many more of them, and then the program does little but allocate.
     */
    static Work held(int objects) {
        heap(objects);
        return () -> {
            long state = 0x9E3779B97F4A7C15L;
            for (int i = 0; i < 300_000; i++) {
                for (int k = 0; k < 900; k++) {
                    state ^= state << 13;
                    state ^= state >>> 7;
                    state ^= state << 17;
                }
                sink = new int[(int) (state >>> 58)];
            }
        };
    }

    /**
     * Four threads with statements on a database in memory, with a table of so many rows. Each has rows of its own: threads that
     * change the same ones wait for each other, for as long as chance has it.
     */
    static Work h2(int rows) throws Exception {
        String url = "jdbc:h2:mem:bench;DB_CLOSE_DELAY=-1";
        try (Connection c = DriverManager.getConnection(url)) {
            c.createStatement().execute("create table item(id int primary key, name varchar(40), price int)");
            c.createStatement().execute("insert into item select x, 'item ' || x, mod(x * 37, 1000) from system_range(1, " + rows + ")");
        }
        return () -> {
            Thread[] threads = new Thread[4];
            for (int t = 0; t < threads.length; t++) {
                int first = t;
                threads[t] = new Thread(() -> {
                    try (Connection c = DriverManager.getConnection(url);
                            PreparedStatement select = c.prepareStatement("select name, price from item where id between ? and ?");
                            PreparedStatement update = c.prepareStatement("update item set price = price + 1 where id = ?")) {
                        for (int i = 0; i < 8000; i++) {
                            int id = first * 4_975 + i * 7 % 4_955 + 1;
                            select.setInt(1, id);
                            select.setInt(2, id + 20);
                            try (ResultSet found = select.executeQuery()) {
                                while (found.next()) {
                                    sink = found.getString(1) + found.getInt(2);
                                }
                            }
                            update.setInt(1, id);
                            update.execute();
                        }
                    } catch (java.sql.SQLException e) {
                        throw new IllegalStateException(e);
                    }
                });
                threads[t].start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        };
    }
}
