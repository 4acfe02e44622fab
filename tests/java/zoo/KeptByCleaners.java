package zoo.keptbycleaners;

import java.lang.ref.Cleaner;
import java.util.ArrayList;
import java.util.List;
import zoo.Series;

/** What is to be done when a session is gone refers to the session: so none ever goes. A list grows beside it, by less. */
public final class KeptByCleaners {
    static final Cleaner CLEANER = Cleaner.create();
    static final List<String> messages = new ArrayList<>();

    static final class Session {
        final byte[] buffer = new byte[400];

        Session() {
            CLEANER.register(this, () -> buffer[0] = (byte) hashCode());
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 900; i++) {
                new Session();
                messages.add("a session that nobody ever closes began, number " + round + " " + i);
            }
            Series.dump(900 * (round + 1));
        }
    }
}
