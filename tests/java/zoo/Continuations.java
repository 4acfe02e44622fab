package zoo.continuations;

import java.util.PriorityQueue;
import zoo.Series;

/** Suspended computations that wait for a time that never comes, each with what it has captured, and with whom to tell. */
public final class Continuations {
    static final Dispatcher dispatcher = new Dispatcher();

    static final class Dispatcher {
        final PriorityQueue<Delayed> delayed = new PriorityQueue<>();
    }

    interface Continuation {
        void resume(Object with);
    }

    record Delayed(long due, Continuation continuation) implements Comparable<Delayed> {
        @Override
        public int compareTo(Delayed other) {
            return Long.compare(due, other.due);
        }
    }

    static Continuation computation(int number, Continuation completion) {
        byte[] page = new byte[180];
        return with -> {
            page[0] = (byte) number;
            completion.resume(with);
        };
    }

    public static void main(String[] arguments) throws Exception {
        Continuation root = with -> System.out.println(with);
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 900; i++) {
                Continuation outer = computation(i, root);
                dispatcher.delayed.add(new Delayed(Long.MAX_VALUE - i * 31 % 97, computation(-i, outer)));
            }
            Series.dump(dispatcher.delayed.size());
        }
    }
}
