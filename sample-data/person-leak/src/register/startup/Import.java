package register.startup;

import java.util.ArrayList;
import java.util.List;

/** Rows read from the old register at the start. They are worked off in the background: this part shrinks. */
public final class Import {
    private final List<Row> rows = new ArrayList<>();

    public Import(int count) {
        for (int i = 0; i < count; i++) {
            rows.add(new Row(i));
        }
    }

    public void release(int count) {
        int left = Math.max(0, rows.size() - count);
        rows.subList(left, rows.size()).clear();
    }

    public int size() {
        return rows.size();
    }

    /** One imported row. */
    static final class Row {
        private final int line;
        private final int[] columns;

        Row(int line) {
            this.line = line;
            this.columns = new int[] {line, this.line * 7, 3, 4};
        }

        @Override
        public String toString() {
            return Integer.toString(line + columns.length);
        }
    }
}
