package city.sample.people;

import java.util.LinkedList;

/** The leak: every visitor is remembered, nobody is ever forgotten. */
public final class Registry {
    private static final LinkedList<Person> visitors = new LinkedList<>();

    private Registry() {
    }

    public static void remember(Person person) {
        visitors.add(person);
    }

    public static int size() {
        return visitors.size();
    }
}
