import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;

/** Has a heap whose contents do not change, and waits. */
public final class Resting {
    static final class Entry {
        final long[] numbers;

        Entry(int n) {
            numbers = new long[n % 13];
        }
    }

    /** One is held by a field of a class, one by a variable of a method that waits. */
    static final class Held {
        int number;
    }

    static final Map<String, Entry> ALL = new HashMap<>();
    static final Held HELD = new Held();

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 30_000; i++) {
            ALL.put("entry " + i, new Entry(i));
        }
        Held held = new Held();
        System.out.println("ready " + ProcessHandle.current().pid());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println("heard");
        }
        if (held.number > 0) {
            System.out.println("never");
        }
    }
}
