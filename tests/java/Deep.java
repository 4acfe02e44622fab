/** Allocates deep down in its calls, as parsers and frameworks do: less deep than is recorded, and deeper. */
public final class Deep {
    static Object last;

    private Deep() {
    }

    static final class Shallow {
        final long[] room = new long[40];
    }

    static final class Deepest {
        final long[] room = new long[40];
    }

    static Object down(int left, boolean deep) {
        if (left > 0) {
            return down(left - 1, deep);
        }
        return deep ? new Deepest() : new Shallow();
    }

    public static void main(String[] arguments) {
        for (int i = 0; i < 20_000; i++) {
            last = down(20, false);
            last = down(200, true);
        }
        System.out.println("done " + last.hashCode());
    }
}
