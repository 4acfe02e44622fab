import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Objects of many shapes, held in a static field; then the program rests until its input ends. */
public final class Layouts {
    static class Empty {}
    static class OneByte { byte b; }
    static class OneLong { long l; }
    static class LongThenByte { long l; byte b; }
    static class Mixed extends OneByte { int i; Object o; double d; short s; }
    static class Deep extends Mixed { boolean z; Object p; char c; long m; }
    static class Wide { Object a, b, c, d, e, f, g; int h; }
    /** Few of these: their size must come from the layout, not from the distances. */
    static class Rare extends Deep { float f; byte q; Object r; }

    static final List<Object> held = new ArrayList<>();
    static final Map<Object, Object> map = new HashMap<>();
    static final Map<Object, Object> concurrent = new ConcurrentHashMap<>();

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 4000; i++) {
            held.add(new Empty());
            held.add(new OneByte());
            held.add(new OneLong());
            held.add(new LongThenByte());
            held.add(new Mixed());
            held.add(new Deep());
            held.add(new Wide());
            map.put("key " + i, (long) i);
            concurrent.put(i, Integer.toHexString(i));
        }
        held.add(new Rare());
        held.add(new Rare());
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
