import java.util.ArrayList;
import java.util.List;

/** Works for a while, then ends in the way it is told: `return`, `exit`, `halt`, `throw`, `memory`, `marks` (many objects, and at once no memory), `large` (returns with 1.3 GB); `wait` goes on until it is told to end, with so many objects. */
public final class Ending {
    static final List<long[]> KEPT = new ArrayList<>();
    static volatile Object sink;
    static Mark[] many;

    static final class Mark {}

    static void work(long millis) throws InterruptedException {
        long until = System.currentTimeMillis() + millis;
        while (System.currentTimeMillis() < until) {
            for (int i = 0; i < 2000; i++) {
                sink = "row " + i;
            }
            KEPT.add(new long[100]);
            Thread.sleep(1);
        }
    }

    static int fill() {
        List<long[]> all = new ArrayList<>();
        try {
            while (true) {
                all.add(new long[1 << 14]);
            }
        } catch (OutOfMemoryError e) {
            int size = all.size();
            all = null;
            // A collector that works beside the program may not have found that yet, and what the program says next takes memory.
            System.gc();
            return size;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
        String how = arguments[0];
        if (how.equals("wait") && arguments.length > 1) {
            many = new Mark[Integer.parseInt(arguments[1])];
            java.util.Arrays.setAll(many, i -> new Mark());
        }
        System.out.println("ready " + ProcessHandle.current().pid());
        work(how.equals("wait") ? Long.MAX_VALUE / 4 : Long.parseLong(arguments[1]));
        switch (how) {
            case "exit" -> System.exit(3);
            case "halt" -> Runtime.getRuntime().halt(4);
            case "throw" -> throw new IllegalStateException("as told");
            case "large" -> {
                // Young ones, of which none is copied.
                for (int i = 0; i < 1250; i++) {
                    KEPT.add(new long[1 << 17]);
                }
            }
            case "marks" -> {
                for (int i = 0; i < 3000; i++) {
                    sink = new Mark();
                }
                sink = new long[Integer.MAX_VALUE];
            }
            case "memory" -> {
                for (int round = 0; round < 3; round++) {
                    System.out.println("full " + (fill() > 10));
                }
                // Nobody catches this one.
                List<long[]> all = new ArrayList<>();
                while (true) {
                    all.add(new long[1 << 14]);
                }
            }
            default -> {}
        }
        System.out.println("done");
    }
}
