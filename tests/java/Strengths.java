import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.CountDownLatch;

/**
 * Objects kept by references of each strength. A dump without a collection before it has them all; one with a collection has
 * lost what weak references alone kept, and has those that wait for their finalizer in its queue.
 */
public class Strengths {
    /** Softly held, each with an array. */
    static class Picture {
        final byte[] pixels = new byte[1000];
    }

    /** Softly held, and by a list as well. */
    static class Shown {}

    /** A key of a weak map that nobody else holds; the map holds the value as long as the entry is there. */
    static class Key {}

    static class Value {
        final byte[] text = new byte[100];
    }

    /** A weak reference leads to it, and from it another object hangs. */
    static class Listener {
        final Leaf leaf = new Leaf();
    }

    static class Leaf {}

    /** Softly held, but only by a weak reference's object. */
    static class Nested {}

    static class Box {
        final SoftReference<Nested> soft = new SoftReference<>(new Nested());
    }

    /** The first blocks the finalizer thread: the others wait for it. */
    static class Handle {
        final long[] buffer = new long[20];

        @Override
        @SuppressWarnings({"deprecation", "removal"})
        protected void finalize() throws Throwable {
            new CountDownLatch(1).await();
        }
    }

    /** Dropped at once. */
    static class Garbage {}

    static final List<SoftReference<Object>> soft = new ArrayList<>();
    static final List<Shown> shown = new ArrayList<>();
    static final Map<Key, Value> weak = new WeakHashMap<>();
    static final List<WeakReference<Object>> listeners = new ArrayList<>();
    static Object last;

    static void make() {
        for (int i = 0; i < 100; i++) {
            soft.add(new SoftReference<>(new Picture()));
        }
        for (int i = 0; i < 20; i++) {
            Shown both = new Shown();
            shown.add(both);
            soft.add(new SoftReference<>(both));
        }
        for (int i = 0; i < 70; i++) {
            weak.put(new Key(), new Value());
        }
        for (int i = 0; i < 40; i++) {
            listeners.add(new WeakReference<>(new Listener(), new ReferenceQueue<>()));
        }
        for (int i = 0; i < 30; i++) {
            listeners.add(new WeakReference<>(new Box()));
        }
        for (int i = 0; i < 50; i++) {
            last = new Handle();
        }
        for (int i = 0; i < 60; i++) {
            last = new Garbage();
        }
        last = null;
    }

    public static void main(String[] arguments) throws Exception {
        make();
        System.out.println("ready " + ProcessHandle.current().pid());
        while (System.in.read() != -1) {
            if (System.in.available() == 0) {
                System.out.println("yes");
            }
        }
    }
}
