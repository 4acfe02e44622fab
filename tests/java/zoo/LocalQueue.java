package zoo.localqueue;

import java.util.LinkedList;
import zoo.Series;

/** A queue that is a local variable of a loop that never ends, drained more slowly than it is filled. */
public final class LocalQueue {
    record Job(int number, byte[] payload) {}

    public static void main(String[] arguments) throws Exception {
        serve();
    }

    static void serve() throws Exception {
        LinkedList<Job> pending = new LinkedList<>();
        long done = 0;
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 2000; i++) {
                pending.add(new Job(i, new byte[150]));
                if (i % 2 == 0 || Series.FIXED) {
                    done += pending.poll().number();
                }
            }
            Series.dump(pending.size());
        }
        System.out.println("done " + done + ", left " + pending.size());
    }
}
