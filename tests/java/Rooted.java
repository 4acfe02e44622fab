import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/** Has one object of a class of its own for each way to be kept: by a field, a variable, a thread, a class of a loader of its own. */
public final class Rooted {
    static final class InField { long a; }
    static final class InVariable { long a; }
    static final class InThread { long a; }

    static final class ShopLoader extends URLClassLoader {
        ShopLoader(Path folder) throws Exception {
            super(new URL[] {folder.toUri().toURL()}, Rooted.class.getClassLoader());
        }
    }

    static final ShopLoader[] LOADERS = new ShopLoader[2];
    static InField kept = new InField();
    static final ThreadLocal<InThread> OWN = new ThreadLocal<>();
    static volatile Object sink;

    static void holds(CountDownLatch ready, long millis) throws InterruptedException {
        InVariable variable = new InVariable();
        ready.countDown();
        Thread.sleep(millis); // here: the variable
        sink = variable;
    }

    static Thread thread(String name, CountDownLatch ready, long millis, boolean withVariable) {
        Thread thread = new Thread(() -> {
            try {
                if (withVariable) {
                    holds(ready, millis);
                } else {
                    OWN.set(new InThread());
                    ready.countDown();
                    Thread.sleep(millis);
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, name);
        thread.start();
        return thread;
    }

    public static void main(String[] arguments) throws Exception {
        long millis = Long.parseLong(arguments[0]);
        Path plugins = Path.of(arguments[1]);
        String[] names = {"Plugin", "Addon"};
        for (int i = 0; i < names.length; i++) {
            LOADERS[i] = new ShopLoader(plugins);
            Class.forName(names[i], true, LOADERS[i]).getMethod("begin").invoke(null);
        }
        CountDownLatch ready = new CountDownLatch(2);
        Thread first = thread("till of the shop", ready, millis, true);
        Thread second = thread("keeper of \"keys\"", ready, millis, false);
        ready.await();
        System.out.println("ready");
        while (first.isAlive() || second.isAlive()) {
            sink = new byte[100_000];
            Thread.sleep(1);
        }
    }
}
