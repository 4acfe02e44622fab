import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs with a window that is suspicious, and one beside it that is not. Argument: `leak` or `overhead`.
 *
 * leak: tables that only the start needs make a spike, larger than all that follows; then sessions are opened and never closed, to the end.
 * overhead: for a while a cache takes nearly all of the heap, so that every few requests collect all of it.
 */
final class Phases {
    static final class Session { final int user; final byte[] page; Session(int user) { this.user = user; this.page = new byte[4000]; } }
    static final class Entry { final Entry next; final int key; Entry(Entry next, int key) { this.next = next; this.key = key; } }

    static final Map<Integer, Session> SESSIONS = new HashMap<>();
    /** The lines of the last answer: without them the compiler would not allocate any. */
    static final byte[][] LINES = new byte[64][];
    static Entry cache;
    static long sum;

    /** Tables that are read once. */
    static void start() throws InterruptedException {
        List<int[]> tables = new ArrayList<>();
        for (int table = 0; table < 40; table++) {
            tables.add(new int[256 * 1024]);
            sum += tables.size();
            Thread.sleep(20);
        }
    }

    /** What a request throws away: 64 kB. */
    static void answer() {
        for (int line = 0; line < 64; line++) {
            LINES[line] = new byte[1000];
            sum += LINES[line].length;
        }
    }

    static void serve(int requests, boolean leaks) throws InterruptedException {
        for (int request = 0; request < requests; request++) {
            answer();
            if (leaks) SESSIONS.put(SESSIONS.size(), new Session(request));
            if (request % 4 == 0) Thread.sleep(1);
        }
    }

    static void fill(int entries) {
        for (int entry = 0; entry < entries; entry++) cache = new Entry(cache, entry);
    }

    public static void main(String[] arguments) throws InterruptedException {
        if (arguments[0].equals("leak")) {
            start();
            serve(1500, false);
            serve(6000, true);
        } else {
            serve(4000, false);
            fill(Integer.parseInt(arguments[1]));
            serve(1500, false);
            cache = null;
            serve(4000, false);
        }
        System.out.println("done, " + sum);
    }
}
