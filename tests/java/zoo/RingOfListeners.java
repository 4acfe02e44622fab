package zoo.ringoflisteners;

import zoo.Series;

/** Listeners in a ring that is made by hand, with links both ways: who unsubscribes is marked, never unlinked. */
public final class RingOfListeners {
    static final Listener ring = new Listener(null);

    static final class Listener {
        Listener before = this;
        Listener after = this;
        boolean closed;
        final byte[] state;

        Listener(byte[] state) {
            this.state = state;
        }
    }

    static Listener subscribe() {
        Listener listener = new Listener(new byte[200]);
        listener.before = ring.before;
        listener.after = ring;
        ring.before.after = listener;
        ring.before = listener;
        return listener;
    }

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 1000; i++) {
                subscribe().closed = true;
            }
            Series.dump((round + 1) * 1000 + 1);
        }
    }
}
