package zoo.neverpolled;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import zoo.Series;

/** Weak references with a queue that nobody polls: those whose object has gone pile up there, with what else they hold. */
public final class NeverPolled {
    static final ReferenceQueue<Object> gone = new ReferenceQueue<>();
    static final Entry[] current = new Entry[50];

    static final class Entry extends WeakReference<Object> {
        final long[] statistics = new long[40];

        Entry(Object of) {
            super(of, gone);
        }
    }

    public static void main(String[] arguments) throws Exception {
        int made = 0;
        for (int round = 0; round < 4; round++) {
            for (int batch = 0; batch < 10; batch++) {
                for (int i = 0; i < current.length; i++) {
                    current[i] = new Entry(new Object());
                    made++;
                }
                System.gc();
            }
            // The VM's own thread puts them into the queue.
            Series.untilCleared();
            while (Series.FIXED && gone.poll() != null) {
                // They go.
            }
            Series.dump(made);
        }
    }
}
