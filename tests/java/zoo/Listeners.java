package zoo.listeners;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import zoo.Series;

/** Windows listen to an event bus, by inner classes and lambdas behind an interface, and are not removed when closed. */
public final class Listeners {
    private static final EventBus BUS = new EventBus();

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 150; i++) {
                new Window(BUS).open();
            }
            Series.dump(BUS.size());
        }
    }
}

interface Listener {
    void changed(String what);
}

final class EventBus {
    private final List<Listener> listeners = new CopyOnWriteArrayList<>();

    void add(Listener listener) {
        listeners.add(listener);
        if (Series.FIXED && listeners.size() > 20) {
            listeners.remove(0);
        }
    }

    int size() {
        return listeners.size();
    }
}

final class Window {
    private final EventBus bus;
    private final int[] pixels = new int[1000];
    private String title = "window";

    Window(EventBus bus) {
        this.bus = bus;
    }

    void open() {
        bus.add(new Listener() {
            @Override
            public void changed(String what) {
                title = what;
            }
        });
        bus.add(what -> pixels[0]++);
    }
}
