import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.Vector;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/** Objects whose contents are known: what analyses of values must find is written beside what makes it. */
public class Contents {
    static class Person {
        final String name;
        final int number;
        Person friend;

        Person(int number) {
            this.name = "person " + number;
            this.number = number;
        }
    }

    static class PersonRegistry {
        static final List<Person> persons = new ArrayList<>();
    }

    /** Loaded by three class loaders. */
    public static class Twin {
        public byte[] held = new byte[1000];
    }

    /** Its finalizer waits until nobody finalizes anything any more. */
    static class Stuck {
        final int number;

        Stuck(int number) {
            this.number = number;
        }

        @Override
        @SuppressWarnings({"deprecation", "removal"})
        protected void finalize() throws Throwable {
            entered.countDown();
            new CountDownLatch(1).await();
        }
    }

    static final CountDownLatch entered = new CountDownLatch(1);
    static final List<Object> kept = new ArrayList<>();

    static void persons() {
        for (int i = 0; i < 50; i++) {
            PersonRegistry.persons.add(new Person(i));
        }
        PersonRegistry.persons.get(0).friend = PersonRegistry.persons.get(49);
    }

    static void strings() {
        Object[] copies = new Object[300];
        for (int i = 0; i < copies.length; i++) {
            // Each has an array of its own.
            copies[i] = new String("a text that is there 300 times".toCharArray());
        }
        kept.add(copies);
        Object[] shared = new Object[100];
        String one = new String("a text whose 100 strings share an array".toCharArray());
        for (int i = 0; i < shared.length; i++) {
            shared[i] = new String(one);
        }
        kept.add(shared);
        // The same bytes, two characters and one.
        kept.add(new Object[] {"\u20ac\u20ac\u20ac".repeat(7), "\u00ac\u0020\u00ac\u0020\u00ac\u0020".repeat(7)});
    }

    static void arrays() {
        List<Object> arrays = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            int[] numbers = new int[123];
            for (int k = 0; k < numbers.length; k++) {
                numbers[k] = k * k;
            }
            arrays.add(numbers);
        }
        for (int i = 0; i < 30; i++) {
            arrays.add(new long[217]);
        }
        for (int i = 0; i < 10; i++) {
            byte[] sevens = new byte[64 + i];
            Arrays.fill(sevens, (byte) 7);
            arrays.add(sevens);
        }
        Person[] pair = {PersonRegistry.persons.get(1), PersonRegistry.persons.get(2)};
        for (int i = 0; i < 5; i++) {
            arrays.add(pair.clone());
        }
        kept.add(arrays.toArray());
    }

    static void boxes() {
        Object[] boxes = new Object[200];
        for (int i = 0; i < boxes.length; i++) {
            boxes[i] = Integer.valueOf(777_777);
        }
        kept.add(boxes);
        kept.add(new Object[] {Double.valueOf(0.125), Double.valueOf(0.125), Long.valueOf(1L << 50)});
    }

    /** Subclasses, so that the platform has none like them. */
    static class MyArrayList extends ArrayList<Object> { MyArrayList(int capacity) { super(capacity); } }
    static class MyVector extends Vector<Object> { MyVector(int capacity) { super(capacity); } }
    static class MyDeque extends ArrayDeque<Object> { }
    static class MyQueue extends PriorityQueue<Integer> { MyQueue(int capacity) { super(capacity); } }
    static class MyLinkedList extends LinkedList<Object> { }
    static class MyHashMap extends HashMap<Object, Object> { MyHashMap(int capacity, float load) { super(capacity, load); } }
    static class MyLinkedHashMap extends LinkedHashMap<Object, Object> { }
    static class MyTreeMap extends TreeMap<Object, Object> { }
    static class MyTreeSet extends TreeSet<Object> { }
    static class MyHashSet extends HashSet<Object> { }
    static class MyWeakMap extends WeakHashMap<Object, Object> { }
    static class MyIdentityMap extends IdentityHashMap<Object, Object> { }
    static class MyConcurrentMap extends ConcurrentHashMap<Object, Object> { }
    static class MyCopyList extends CopyOnWriteArrayList<Object> { }

    static <M extends Map<Object, Object>> M filled(M map, int entries) {
        for (int i = 0; i < entries; i++) {
            map.put(kept.get(0).hashCode() * 31 + "key".repeat(1 + i % 3) + i, Boolean.TRUE);
        }
        return map;
    }

    static <C extends java.util.Collection<? super Integer>> C filled(C collection, int elements) {
        for (int i = 0; i < elements; i++) {
            collection.add(i);
        }
        return collection;
    }

    static void collections() {
        List<Object> all = new ArrayList<>();
        all.add(filled(new MyArrayList(1000), 3));
        all.add(new MyArrayList(0));
        all.add(filled(new MyVector(64), 60));
        MyDeque deque = new MyDeque();
        for (int i = 0; i < 12; i++) {
            deque.addLast(i);
            deque.addLast(i);
            deque.removeFirst();
        }
        all.add(deque);
        all.add(filled(new MyQueue(500), 5));
        all.add(filled(new MyLinkedList(), 9));
        all.add(filled(new MyHashMap(4096, 0.5f), 10));
        all.add(new MyHashMap(16, 0.75f));
        all.add(filled(new MyLinkedHashMap(), 13));
        all.add(filled(new MyTreeMap(), 11));
        all.add(filled(new MyTreeSet(), 7));
        all.add(filled(new MyHashSet(), 100));
        MyWeakMap weak = new MyWeakMap();
        for (int i = 0; i < 4; i++) {
            weak.put(PersonRegistry.persons.get(i), i);
        }
        all.add(weak);
        all.add(filled(new MyIdentityMap(), 20));
        MyConcurrentMap concurrent = new MyConcurrentMap();
        Thread[] writers = new Thread[4];
        for (int t = 0; t < writers.length; t++) {
            int from = t * 1000;
            writers[t] = new Thread(() -> {
                for (int i = from; i < from + 1000; i++) {
                    concurrent.put(i, i);
                }
            });
            writers[t].start();
        }
        for (Thread writer : writers) {
            try {
                writer.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        all.add(concurrent);
        all.add(filled(new MyCopyList(), 6));
        all.add(Arrays.asList("only", "these", "three"));
        kept.add(all.toArray());
    }

    static void twins(Path classes) throws Exception {
        for (int i = 0; i < 2; i++) {
            URLClassLoader loader = new URLClassLoader(new URL[] {classes.toUri().toURL()}, null);
            kept.add(loader.loadClass("Contents$Twin").getDeclaredConstructor().newInstance());
        }
        kept.add(new Twin());
    }

    static void stuck() throws InterruptedException {
        for (int i = 0; i < 25; i++) {
            new Stuck(i);
        }
        System.gc();
        entered.await();
    }

    static void hold(byte[] block, CountDownLatch ready) {
        Person local = new Person(4711);
        ready.countDown();
        try {
            Thread.sleep(1_000_000);
        } catch (InterruptedException e) {
            System.out.println(block.length + local.number);
        }
    }

    public static void main(String[] arguments) throws Exception {
        persons();
        strings();
        arrays();
        boxes();
        collections();
        twins(Path.of(Contents.class.getProtectionDomain().getCodeSource().getLocation().toURI()));
        stuck();
        CountDownLatch ready = new CountDownLatch(1);
        Thread holder = new Thread(() -> hold(new byte[123_456], ready), "the holder");
        holder.setDaemon(true);
        holder.start();
        ready.await();
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
    }
}
