import java.util.ArrayList;
import java.util.List;

/**
 * Threads that allocate: one that is renamed at each step, where there are any virtual ones with names and without, and, if it is
 * told, so many short ones. Each object is of a class that says whose it is. Prints how many each class has.
 */
public final class Threads {
    static final class OfFirstName { long a; }

    static final class OfSecondName { long a; }

    static final class OfNamed { long a; }

    static final class OfNameless { long a; }

    static final class OfShort { long a; }

    static volatile Object sink;

    /** Compiled for 17, where there are none: by reflection. */
    static Thread virtual(String name, Runnable work) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        if (name != null) {
            type.getMethod("name", String.class).invoke(builder, name);
        }
        return (Thread) type.getMethod("start", Runnable.class).invoke(builder, work);
    }

    static void pause() {
        try {
            Thread.sleep(5);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        int many = Integer.parseInt(arguments[1]);
        Thread renamed = new Thread(() -> {
            for (int i = 0; i < rounds; i++) {
                sink = new OfFirstName();
            }
            Thread.currentThread().setName("second name");
            pause();
            for (int i = 0; i < rounds; i++) {
                sink = new OfSecondName();
            }
        }, "first name");
        renamed.start();
        renamed.join();
        int virtuals = 0;
        if (Runtime.version().feature() >= 21) {
            List<Thread> all = new ArrayList<>();
            // Many on few carriers, and each lets others run in between.
            for (int t = 0; t < 40; t++) {
                boolean named = t % 2 == 0;
                all.add(virtual(named ? "till " + t % 4 : null, () -> {
                    for (int i = 0; i < rounds; i++) {
                        sink = named ? new OfNamed() : new OfNameless();
                        if (i % 100 == 0) {
                            Thread.yield();
                        }
                    }
                }));
            }
            for (Thread thread : all) {
                thread.join();
            }
            virtuals = 20 * rounds;
        }
        for (int t = 0; t < many; t++) {
            Thread thread = new Thread(() -> sink = new OfShort(), "request number " + t + " of very many");
            thread.start();
            thread.join();
        }
        System.out.println("done " + rounds + " " + virtuals + " " + many);
    }
}
