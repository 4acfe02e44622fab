import java.io.File;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Makes objects in every way there is, so many of each; what each way makes has a class, or a length, that nothing else has, or one place
 * that makes it. A folder is listed, beside which are `link`, a link to whatever, and no `missing`.
 */
public final class Ways {
    static class Plain { long a; }
    static final class ByReflection { long a; }
    static final class ByHandle { long a; }
    static final class Uninitialized { long a; }
    static final class Cloned implements Cloneable {
        long a;

        Cloned copy() throws CloneNotSupportedException {
            return (Cloned) clone();
        }
    }
    static final class Deserialized implements java.io.Serializable { long a; }
    static final class Streamed { long a; }
    static final class Supplied { long a; }
    static final class Captured { }
    static final class Nested { final Inner inner = new Inner(); class Inner { long a; } }
    record Pair(Object left, Object right) { }
    static final class Thrown extends RuntimeException {
        Thrown() { super(null, null, false, false); }
    }
    enum Choice { ONE, TWO }

    static volatile Object sink;
    static volatile int number;

    static int lengths(Object... all) {
        sink = all;
        return all.length;
    }

    static Object unsafe() throws Exception {
        java.lang.reflect.Field field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
        field.setAccessible(true);
        return field.get(null);
    }

    public static void main(String[] arguments) throws Throwable {
        int rounds = Integer.parseInt(arguments[0]);
        File folder = new File(arguments[1]);
        Path link = folder.toPath().resolveSibling("link");
        Path missing = folder.toPath().resolveSibling("missing");
        // The first call of a native method has the VM look for it, by a name that it makes.
        sink = Files.readSymbolicLink(folder.toPath().resolveSibling("link"));
        Object unsafe = unsafe();
        java.lang.reflect.Method allocate = unsafe.getClass().getMethod("allocateInstance", Class.class);
        MethodHandle handle = MethodHandles.lookup().findConstructor(ByHandle.class, MethodType.methodType(void.class));
        Cloned cloned = new Cloned();
        short[] shorts = new short[77];
        Object[][] objects = new Object[0][];
        java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
        try (java.io.ObjectOutputStream out = new java.io.ObjectOutputStream(bytes)) {
            out.writeObject(new Deserialized());
        }
        for (int i = 0; i < rounds; i++) {
            number = i;
            sink = new Plain();
            sink = ByReflection.class.getDeclaredConstructor().newInstance();
            sink = (ByHandle) handle.invokeExact();
            sink = allocate.invoke(unsafe, Uninitialized.class);
            sink = cloned.copy();
            sink = shorts.clone();
            // Boxing beyond the numbers that are kept.
            sink = Long.valueOf(1_000_000L + number);
            sink = (double) number;
            sink = new boolean[71];
            sink = new byte[10_001];
            sink = new char[72];
            sink = new int[73];
            sink = new long[74];
            sink = new float[75];
            sink = new double[76];
            sink = new Pair[78];
            sink = new Choice[3][79];
            sink = Array.newInstance(Captured.class, 80);
            sink = java.util.Arrays.copyOf(objects, 81);
            sink = new Pair(sink, sink);
            sink = new Nested();
            lengths(number, null, "x", null, null, null, null);
            int captured = number;
            Supplier<Object> supplier = () -> {
                number = captured;
                return new Supplied();
            };
            sink = supplier.get();
            sink = supplier;
            sink = "number " + number + " of many";
            sink = IntStream.range(0, 2).mapToObj(n -> new Streamed()).toList();
            sink = List.of(sink, sink, sink);
            // Native code of the class library makes these, by JNI: texts and arrays of them, bytes, an object.
            sink = folder.list();
            sink = Files.readSymbolicLink(link);
            try {
                sink = Files.readSymbolicLink(missing);
            } catch (NoSuchFileException expected) {
                sink = expected;
            }
            try {
                throw new Thrown();
            } catch (Thrown thrown) {
                sink = thrown;
            }
            if (i % 100 == 0) {
                // Larger than half a region: such objects have regions of their own.
                sink = new long[300_000];
                try (var in = new java.io.ObjectInputStream(new java.io.ByteArrayInputStream(bytes.toByteArray()))) {
                    sink = in.readObject();
                }
            }
        }
        System.out.println("done " + rounds);
    }
}
