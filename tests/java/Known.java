import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Has items that are told apart by the length of an array, moves them about, lets go of some and makes others. */
public final class Known {
    static final class Item {
        final long[] mark;

        Item(int number) {
            mark = new long[1000 + number];
        }
    }

    static final Item[] ALL = new Item[400];
    /** What lies between them: where it is cleared away, they move. */
    static final byte[][] BETWEEN = new byte[400][];
    static volatile Object sink;

    static void make(int from, int to) {
        for (int i = from; i < to; i++) {
            BETWEEN[i] = new byte[20_000];
            ALL[i] = new Item(i);
        }
    }

    public static void main(String[] arguments) throws Exception {
        make(0, 300);
        System.out.println("ready " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            switch (line) {
                case "move" -> {
                    java.util.Arrays.fill(BETWEEN, null);
                    for (int i = 0; i < 20_000; i++) {
                        sink = new byte[1000];
                    }
                    System.gc();
                }
                case "change" -> {
                    for (int i = 0; i < 50; i++) {
                        ALL[i] = null;
                    }
                    make(300, 350);
                    System.gc();
                }
                default -> {
                    return;
                }
            }
            System.out.println("done");
        }
    }
}
