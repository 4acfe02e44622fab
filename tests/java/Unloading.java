import java.io.InputStream;
import java.util.function.Supplier;

/** Loads a class again and again in loaders that die, and allocates in its methods: names must be asked for in time. */
public final class Unloading {
    public static final class Work implements Supplier<Object> {
        @Override
        public Object get() {
            Object[] last = new Object[4];
            for (int i = 0; i < 300; i++) {
                last[i % 4] = new long[20 + i % 7];
            }
            return last;
        }
    }

    static final class Once extends ClassLoader {
        final byte[] code;

        Once(byte[] code) {
            super(Unloading.class.getClassLoader());
            this.code = code;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            return name.equals("Unloading$Work") ? defineClass(name, code, 0, code.length) : super.loadClass(name, resolve);
        }
    }

    static volatile Object sink;

    public static void main(String[] arguments) throws Exception {
        long until = System.currentTimeMillis() + Long.parseLong(arguments[0]);
        byte[] code;
        try (InputStream in = Unloading.class.getResourceAsStream("Unloading$Work.class")) {
            code = in.readAllBytes();
        }
        Thread[] threads = new Thread[2];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> {
                for (int n = 0; System.currentTimeMillis() < until; n++) {
                    try {
                        Class<?> work = new Once(code).loadClass("Unloading$Work");
                        sink = ((Supplier<?>) work.getDeclaredConstructor().newInstance()).get();
                    } catch (ReflectiveOperationException e) {
                        throw new IllegalStateException(e);
                    }
                    if (n % 200 == 0) {
                        System.gc();
                    }
                }
            }, "loads-" + t);
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("done " + java.lang.management.ManagementFactory.getClassLoadingMXBean().getUnloadedClassCount());
    }
}
