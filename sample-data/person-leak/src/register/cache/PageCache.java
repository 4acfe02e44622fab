package register.cache;

import java.util.LinkedHashMap;
import java.util.Map;

/** A cache as it should be: the page that was not asked for longest makes room for the next one. */
public final class PageCache {
    private final Bounded pages;

    public PageCache(int limit) {
        pages = new Bounded(limit);
        for (int i = 0; i < limit; i++) {
            page(i);
        }
    }

    public Page page(int number) {
        Page page = pages.get(number);
        if (page == null) {
            page = new Page(number);
            pages.put(number, page);
        }
        return page;
    }

    public int size() {
        return pages.size();
    }

    /** A rendered page. */
    public static final class Page {
        private final int number;
        private final short[] content;

        Page(int number) {
            this.number = number;
            this.content = new short[48];
            content[0] = (short) this.number;
        }
    }

    private static final class Bounded extends LinkedHashMap<Integer, Page> {
        private static final long serialVersionUID = 1L;
        private final int limit;

        Bounded(int limit) {
            super(limit, 0.75f, true);
            this.limit = limit;
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Page> eldest) {
            return size() > limit;
        }
    }
}
