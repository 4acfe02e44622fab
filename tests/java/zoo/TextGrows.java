package zoo.textgrows;

import zoo.Series;

/** One text that only grows: no further object, one array that is longer each time. */
public final class TextGrows {
    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 4000; i++) {
                Protocol.text.append("line ").append(i).append(" of what was done, which nobody will ever read again\n");
            }
            Series.dump(1);
        }
    }
}

final class Protocol {
    static final StringBuilder text = new StringBuilder();
}
