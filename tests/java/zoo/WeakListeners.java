package zoo.weaklisteners;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.WeakHashMap;
import zoo.Series;

/** Healthy: details of whatever is open, in a WeakHashMap used as it should be; what is closed goes with its key. */
public final class WeakListeners {
    static final Map<Document, byte[]> details = new WeakHashMap<>();
    static final int[] OPEN = {300, 420, 250, 380, 400, 330};

    static final class Document {}

    public static void main(String[] arguments) throws Exception {
        for (int wanted : OPEN) {
            Deque<Document> open = new ArrayDeque<>();
            for (int i = 0; i < 1000; i++) {
                Document document = new Document();
                details.put(document, new byte[700]);
                open.add(document);
                if (open.size() > wanted) {
                    open.poll();
                }
            }
            Series.untilCleared();
            // Looked at, as it is all the time: what was closed is out of it.
            details.size();
            Series.dump(open.size());
        }
    }
}
