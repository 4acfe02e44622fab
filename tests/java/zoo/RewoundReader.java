package zoo.rewoundreader;

import zoo.Series;

/** A log that is never cut off, as a chain, and one who reads it and is sent back: what he still has to read is reached in two ways. */
public final class RewoundReader {
    static final Entry oldest = new Entry(0);
    static final Reader reader = new Reader();

    static final class Reader {
        Entry next;
    }

    static final class Entry {
        final int number;
        final long[] statistics = new long[40];
        Entry next;

        Entry(int number) {
            this.number = number;
        }
    }

    static Entry at(int number) {
        Entry entry = oldest;
        while (entry.number < number) {
            entry = entry.next;
        }
        return entry;
    }

    public static void main(String[] arguments) throws Exception {
        // Near the end, twice; then he is sent back, and falls behind.
        int[] reads = {480, 980, 500, 1000};
        Entry newest = oldest;
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 500; i++) {
                newest.next = new Entry(newest.number + 1);
                newest = newest.next;
            }
            reader.next = at(reads[round]);
            Series.dump(newest.number);
        }
    }
}
