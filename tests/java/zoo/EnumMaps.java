package zoo.enummaps;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Map;
import zoo.Series;

/** Bookings by kind: those of one kind are never settled. */
public final class EnumMaps {
    enum Kind { CASH, CARD, VOUCHER }

    record Booking(int number, String text) {}

    static final class Ledger {
        final Map<Kind, Deque<Booking>> open = new EnumMap<>(Kind.class);
    }

    static final Ledger ledger = new Ledger();

    public static void main(String[] arguments) throws Exception {
        for (Kind kind : Kind.values()) {
            ledger.open.put(kind, new ArrayDeque<>());
        }
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 1400; i++) {
                for (Kind kind : Kind.values()) {
                    ledger.open.get(kind).add(new Booking(i, "booking " + round + " " + i));
                }
                ledger.open.get(Kind.CASH).poll();
                ledger.open.get(Kind.CARD).poll();
                if (Series.FIXED) {
                    ledger.open.get(Kind.VOUCHER).poll();
                }
            }
            Series.dump(ledger.open.get(Kind.VOUCHER).size());
        }
    }
}
