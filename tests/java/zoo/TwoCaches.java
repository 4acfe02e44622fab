package zoo.twocaches;

import java.util.TreeMap;
import zoo.Series;

/** Two caches of one class: a large one with a limit, and a small one that has none. */
public final class TwoCaches {
    public static void main(String[] arguments) throws Exception {
        Site site = new Site();
        for (int i = 0; i < 5000; i++) {
            site.users.put(i, new Entry());
        }
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 500; i++) {
                int next = 500 * round + i;
                site.users.put(5000 + next, new Entry());
                site.pages.put(next, new Entry());
            }
            Series.dump(site.pages.entries.size());
        }
    }
}

final class Site {
    final Cache users = new Cache(5000);
    final Cache pages = new Cache(Integer.MAX_VALUE);
}

final class Cache {
    final TreeMap<Integer, Entry> entries = new TreeMap<>();
    private final int most;

    Cache(int most) {
        this.most = most;
    }

    void put(int key, Entry entry) {
        entries.put(key, entry);
        if (entries.size() > most) {
            entries.pollFirstEntry();
        }
    }
}

final class Entry {
    final byte[] content = new byte[100];
}
