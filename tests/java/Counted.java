/** Makes as many objects of each class as it says, in turns: what every sampling must estimate. */
public final class Counted {
    static final class C0 { long a; }
    static final class C1 { long a, b, c; }
    static final class C2 { long a, b, c, d, e, f, g; }
    static final class C3 { long a, b, c, d, e, f, g, h, i, j, k, l, m; }
    static final class C4 { Object a, b; C0 c; }

    static volatile Object sink;

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        for (int i = 0; i < rounds; i++) {
            sink = new C0();
            sink = new C1();
            sink = new C2();
            sink = new C3();
            sink = new C4();
            sink = new short[100];
            // Ways that are no `new` in the program's code.
            if (i % 100 == 0) {
                sink = ((float[]) FLOATS).clone();
                sink = java.lang.reflect.Array.newInstance(C1.class, 3);
                sink = C2.class.getDeclaredConstructor().newInstance();
            }
        }
        System.out.println("done " + rounds);
    }

    static final float[] FLOATS = new float[10];
}
