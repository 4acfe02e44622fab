package zoo.intrusivelist;

import zoo.Series;

/** Packets that are linked to each other by a field of their own: no collection anywhere, and a very long list. */
public final class IntrusiveList {
    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 20_000; i++) {
                Router.receive(new Packet(i));
            }
            Series.dump(Router.count);
        }
    }
}

final class Router {
    static Packet first;
    static Packet last;
    static int count;

    static void receive(Packet packet) {
        if (last == null) {
            first = packet;
        } else {
            last.next = packet;
        }
        last = packet;
        count++;
        if (Series.FIXED && count > 5000) {
            first = first.next;
            count--;
        }
    }
}

final class Packet {
    Packet next;
    final long number;

    Packet(long number) {
        this.number = number;
    }
}
