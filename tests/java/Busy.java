import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.atomic.LongAdder;

/**
 * As many threads as it is told allocate without end, at ever other depths of ever new stacks, and keep nothing. Says for each line that it reads how
 * often they have; with a second argument, for each line and every so many milliseconds. What it holds stays the same: so many objects as the third argument says.
 */
public final class Busy {
    static final LongAdder WORK = new LongAdder();
    static volatile Object sink;
    static Object[] held;

    static void work(long seed) {
        long way = seed;
        while (true) {
            for (int i = 0; i < 100; i++) {
                way = way * 6364136223846793005L + 1442695040888963407L;
                sink = Stacks.deep(20 + (int) (way >>> 60), way >>> 20);
            }
            WORK.add(100);
        }
    }

    static synchronized void say() {
        System.out.println("work " + WORK.sum());
    }

    public static void main(String[] arguments) throws Exception {
        int count = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 0;
        held = new Object[count];
        for (int i = 0; i < count; i++) {
            held[i] = new long[2];
        }
        for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
            long seed = 0x9E3779B97F4A7C15L * (i + 1);
            Thread thread = new Thread(() -> work(seed));
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("ready " + ProcessHandle.current().pid());
        if (arguments.length > 1) {
            while (true) {
                Thread.sleep(Long.parseLong(arguments[1]));
                say();
            }
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            say();
        }
    }
}
