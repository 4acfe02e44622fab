package zoo.interned;

import zoo.Series;

/** Healthy: many strings are interned and let go: the VM's own table holds them weakly. */
public final class Interned {
    public static void main(String[] arguments) throws Exception {
        long letters = 0;
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 20_000; i++) {
                letters += ("name " + round + "-" + i).intern().length();
            }
            Series.dump(letters);
        }
    }
}
