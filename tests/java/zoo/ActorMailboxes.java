package zoo.actormailboxes;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import zoo.Series;

/** Two hundred actors, never more, each with a mailbox that is filled faster than it is emptied: the same field of each leaks a little. */
public final class ActorMailboxes {
    static final Map<String, Actor> actors = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 200; i++) {
            actors.put("actor-" + i, new Actor());
        }
        for (int round = 0; round < 4; round++) {
            for (Actor actor : actors.values()) {
                for (int i = 0; i < 15; i++) {
                    actor.mailbox.add(new Message("ask", new int[10]));
                }
            }
            Series.dump((round + 1) * 200L * 15);
        }
    }
}

final class Actor {
    final ConcurrentLinkedQueue<Message> mailbox = new ConcurrentLinkedQueue<>();
    final byte[] state = new byte[500];
}

record Message(String what, int[] numbers) {}
