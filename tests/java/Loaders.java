import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/** Two loaders that each have a class Twin of their own, which keep so many things as the first two arguments say. Ends after so many milliseconds as the third does. */
public final class Loaders {
    static final class TwinLoader extends ClassLoader {
        TwinLoader(ClassLoader parent) {
            super(parent);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("Twin")) {
                return super.loadClass(name, resolve);
            }
            Class<?> known = findLoadedClass(name);
            if (known != null) {
                return known;
            }
            try (InputStream in = getParent().getResourceAsStream(name + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException error) {
                throw new ClassNotFoundException(name, error);
            }
        }
    }

    static final List<IntConsumer> TWINS = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        System.out.println("ready " + ProcessHandle.current().pid());
        for (int i = 0; i < 2; i++) {
            ClassLoader loader = new TwinLoader(Loaders.class.getClassLoader());
            var made = loader.loadClass("Twin").getDeclaredConstructor();
            made.setAccessible(true);
            IntConsumer twin = (IntConsumer) made.newInstance();
            TWINS.add(twin);
            twin.accept(Integer.parseInt(arguments[i]));
        }
        Thread.sleep(Long.parseLong(arguments[2]));
        System.out.println("done " + TWINS.size());
    }
}

final class Twin implements IntConsumer {
    static final class Thing {
        long number;
    }

    static final List<Thing> THINGS = new ArrayList<>();

    @Override
    public void accept(int count) {
        for (int i = 0; i < count; i++) {
            THINGS.add(new Thing());
        }
    }
}
