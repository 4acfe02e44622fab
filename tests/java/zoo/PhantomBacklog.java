package zoo.phantombacklog;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.HashSet;
import java.util.Set;
import zoo.Series;

/** Something is to be closed after each object that died; nobody reads the queue, so the references stay in their set. */
public final class PhantomBacklog {
    static final ReferenceQueue<Object> QUEUE = new ReferenceQueue<>();
    static final Set<ToClose> pending = new HashSet<>();

    static final class ToClose extends PhantomReference<Object> {
        final byte[] handle = new byte[150];

        ToClose(Object of) {
            super(of, QUEUE);
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 1100; i++) {
                pending.add(new ToClose(new Object()));
            }
            Series.dump(pending.size());
        }
    }
}
