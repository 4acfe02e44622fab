package zoo.longerstrings;

import java.util.HashMap;
import java.util.Map;
import zoo.Series;

/** Thirty users, never more; the note about each gets longer with each visit. */
public final class LongerStrings {
    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int visit = 0; visit < 300; visit++) {
                for (int user = 0; user < 30; user++) {
                    Notes.byUser.merge("user " + user, "visited the page of article " + visit + "; ", String::concat);
                }
            }
            Series.dump(Notes.byUser.size());
        }
    }
}

final class Notes {
    static final Map<String, String> byUser = new HashMap<>();
}
