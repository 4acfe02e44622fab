import java.io.*;
import java.util.*;

/**
 * A registry with two maps of the same type, of which one grows: by {@link #STEP} sessions for each line of input, each with a list of its own.
 */
public class Growing {
    static final int STEP = 1000;

    static class Session {
        final byte[] data = new byte[200];
        final List<String> log = new ArrayList<>();

        Session(int number) {
            log.add("session " + number);
            log.add("of many");
        }
    }

    static class Registry {
        final Map<Integer, Session> sessions = new HashMap<>();
        final Map<Integer, String> names = new HashMap<>();
        final Set<String> seen = new HashSet<>();
    }

    static final Registry REGISTRY = new Registry();
    static final List<byte[]> CONSTANT = new ArrayList<>();

    static void more() {
        int first = REGISTRY.sessions.size();
        for (int n = first; n < first + STEP; n++) {
            REGISTRY.sessions.put(n, new Session(n));
        }
        // The set grows as well, but less.
        for (int n = first; n < first + STEP / 10; n++) {
            REGISTRY.seen.add("seen " + n);
        }
    }

    public static void main(String[] arguments) throws IOException {
        for (int n = 0; n < 500; n++) {
            REGISTRY.names.put(n, "name " + n);
            CONSTANT.add(new byte[1000]);
        }
        more();
        System.out.println("ready " + ProcessHandle.current().pid());
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        while (lines.readLine() != null) {
            more();
            System.out.println(REGISTRY.sessions.size());
        }
    }
}
