import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Objects of many shapes, held in a static field; then the program rests until its input ends. */
public final class Layouts {
    static class Empty {}
    static class SingleByte { byte b; }
    static class SingleLong { long l; }
    static class LongThenByte { long l; byte b; }
    static class Mixed extends SingleByte { int i; Object o; double d; short s; }
    static class Deep extends Mixed { boolean z; Object p; char c; long m; }
    static class Wide { Object a, b, c, d, e, f, g; int h; }
    /** Few of these: their size must come from the layout, not from the distances. */
    static class Rare extends Deep { float f; byte q; Object r; }

    /** Below a class with padded fields ({@code @Contended}), with and without fields of their own at each level. */
    static class Bare extends Thread {}
    static class BareBare extends Bare {}
    static class BareBareRef extends BareBare { Object o; }
    static class BareRef extends Bare { Object o; }
    static class BareRefBare extends BareRef {}
    static class One extends Thread { int i; }
    static class OneBare extends One {}
    static class OneBareBare extends OneBare {}
    static class OneBareLong extends OneBare { long l; }
    static class OneLong extends One { long l; }
    static class OneLongByte extends OneLong { byte b; }
    static class OneLongBare extends OneLong {}
    static class OneByte extends Thread { byte b; }
    static class OneByteByte extends OneByte { byte b; }
    static class OneByteByteBare extends OneByteByte {}
    static class Pool extends java.util.concurrent.ForkJoinPool {
        int i;
        Pool() { super(1); }
    }
    static class PoolBare extends Pool {}

    static final List<Object> held = new ArrayList<>();
    static final Map<Object, Object> map = new HashMap<>();
    static final Map<Object, Object> concurrent = new ConcurrentHashMap<>();

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 4000; i++) {
            held.add(new Empty());
            held.add(new SingleByte());
            held.add(new SingleLong());
            held.add(new LongThenByte());
            held.add(new Mixed());
            held.add(new Deep());
            held.add(new Wide());
            map.put("key " + i, (long) i);
            concurrent.put(i, Integer.toHexString(i));
        }
        held.add(new Rare());
        held.add(new Rare());
        // One of each, never started.
        for (Object padded : new Object[] {
            new Bare(), new BareBare(), new BareBareRef(), new BareRef(), new BareRefBare(), new One(), new OneBare(),
            new OneBareBare(), new OneBareLong(), new OneLong(), new OneLongByte(), new OneLongBare(), new OneByte(),
            new OneByteByte(), new OneByteByteBare(), new Pool(), new PoolBare(),
        }) {
            held.add(padded);
        }
        LinkedList<Object> list = new LinkedList<>();
        for (int i = 0; i < 600; i++) {
            list.add(new boolean[i % 37]);
            list.add(new byte[i]);
            list.add(new char[i % 53]);
            list.add(new short[i % 41]);
            list.add(new int[i % 29]);
            list.add(new float[i % 31]);
            list.add(new long[i % 23]);
            list.add(new double[i % 19]);
            list.add(new Object[i % 43]);
            list.add(new String[i % 7][3]);
        }
        held.add(list);
        System.gc();
        System.out.println("ready " + ProcessHandle.current().pid());
        while (System.in.read() >= 0) {
            // Nothing is allocated here: the heap stays as it is.
        }
    }
}
