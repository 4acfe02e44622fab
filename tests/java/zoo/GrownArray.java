package zoo.grownarray;

import java.util.Arrays;
import zoo.Series;

/** A log in an array that is copied into a larger one when it is full. */
public final class GrownArray {
    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 2000; i++) {
                EventLog.add(new LogLine(i, "something happened at " + i));
            }
            Series.dump(EventLog.used);
        }
    }
}

final class EventLog {
    static LogLine[] lines = new LogLine[16];
    static int used;

    static void add(LogLine line) {
        if (Series.FIXED && used == 1000) {
            used = 0;
        }
        if (used == lines.length) {
            lines = Arrays.copyOf(lines, used * 2);
        }
        lines[used++] = line;
    }
}

record LogLine(long time, String text) {}
