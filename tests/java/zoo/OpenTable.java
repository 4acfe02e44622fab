package zoo.opentable;

import zoo.Series;

/** A hash table of its own making: keys in one array, values in another, both doubled when three quarters are used. */
public final class OpenTable {
    private static final SymbolTable SYMBOLS = new SymbolTable();

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 2500; i++) {
                long key = round * 2500L + i;
                SYMBOLS.put(key * 0x9E3779B97F4A7C15L, new Symbol("symbol" + key));
            }
            Series.dump(SYMBOLS.used);
        }
    }
}

final class SymbolTable {
    long[] keys = new long[64];
    Symbol[] values = new Symbol[64];
    int used;

    void put(long key, Symbol value) {
        if (used * 4 >= keys.length * 3) {
            long[] oldKeys = keys;
            Symbol[] oldValues = values;
            keys = new long[oldKeys.length * 2];
            values = new Symbol[oldKeys.length * 2];
            for (int i = 0; i < oldKeys.length; i++) {
                if (oldValues[i] != null) {
                    place(oldKeys[i], oldValues[i]);
                }
            }
        }
        place(key, value);
        used++;
    }

    private void place(long key, Symbol value) {
        int at = (int) (key >>> 40) & (keys.length - 1);
        while (values[at] != null) {
            at = (at + 1) & (keys.length - 1);
        }
        keys[at] = key;
        values[at] = value;
    }
}

record Symbol(String name) {}
