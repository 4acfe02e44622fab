import java.util.Random;

/**
 * Holds twice as many objects after each of so many steps of so many milliseconds, half as many as before at the end. They refer to each other at random, so
 * that no packing makes them small.
 */
public final class Doubling {
    static final class Node {
        Node one, other;
    }

    static Node[] all = grown(new Node[0], 2000);
    static volatile Object sink;

    static Node[] grown(Node[] before, int size) {
        Random random = new Random(size);
        Node[] after = java.util.Arrays.copyOf(before, size);
        for (int i = before.length; i < size; i++) {
            after[i] = new Node();
        }
        for (int i = before.length; i < size; i++) {
            after[i].one = after[random.nextInt(size)];
            after[i].other = after[random.nextInt(size)];
        }
        return after;
    }

    static void rest(long millis) throws InterruptedException {
        // Garbage, so that collections come.
        long until = System.currentTimeMillis() + millis;
        while (System.currentTimeMillis() < until) {
            for (int i = 0; i < 2000; i++) {
                sink = new long[64];
            }
            Thread.sleep(1);
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println("ready " + ProcessHandle.current().pid());
        int steps = Integer.parseInt(arguments[0]);
        long millis = Long.parseLong(arguments[1]);
        for (int step = 0; step < steps; step++) {
            rest(millis);
            all = grown(all, all.length * 2);
        }
        rest(millis);
        all = grown(new Node[0], 4000);
        rest(millis);
        System.out.println("done " + all.length);
    }
}
