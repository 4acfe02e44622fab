package zoo.listenerpairs;

import java.util.Arrays;
import zoo.Series;

/** Listeners that are never removed, in one array with their kinds: half of its slots are listeners. */
public final class ListenerPairs {
    public static void main(String[] arguments) throws Exception {
        Model model = new Model();
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 400; i++) {
                model.add(Runnable.class, new View());
            }
            Series.dump(model.pairs.length / 2);
        }
    }
}

final class Model {
    Object[] pairs = {};

    void add(Class<?> kind, Object listener) {
        pairs = Arrays.copyOf(pairs, pairs.length + 2);
        pairs[pairs.length - 2] = kind;
        pairs[pairs.length - 1] = listener;
    }
}

final class View implements Runnable {
    private final byte[] pixels = new byte[200];

    @Override
    public void run() {}
}
