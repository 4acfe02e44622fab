package zoo.mixed;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import zoo.Series;

/** A context of a request in which everybody puts something, and which lives as long as the server: elements of many types, none of them many. */
public final class Mixed {
    static final RequestContext context = new RequestContext();

    static final class RequestContext {
        private final List<Object> attributes = new ArrayList<>();
    }

    record User(String name, long since) {}

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 200; i++) {
                context.attributes.add("a text " + round + " " + i);
                context.attributes.add(new User("user " + i, i));
                context.attributes.add(new int[50]);
                context.attributes.add(new HashMap<>(Map.of("key " + i, i)));
                context.attributes.add(new StringBuilder("buffer ").append(i));
            }
            Series.dump(context.attributes.size());
        }
    }
}
