package city.sample.web;

import java.util.ArrayList;
import java.util.List;

/** A session: as many as are open at a time, in the long run a constant number. */
public final class Session {
    private final long id;
    private final List<String> pages = new ArrayList<>();
    private final byte[] token = new byte[48];

    public Session(long id) {
        this.id = id;
    }

    public void open(String page) {
        pages.add(page + '?' + id);
    }

    public int weight() {
        return pages.size() + token.length;
    }
}
