package register.store;

import java.util.LinkedList;
import java.util.List;
import register.model.Person;

/** The leak: every person ever asked for is added to a static list, and nobody removes one. */
public final class PersonRegistry {
    private static final List<Person> PERSONS = new LinkedList<>();

    private PersonRegistry() {}

    public static void remember(Person person) {
        PERSONS.add(person);
    }

    public static int size() {
        return PERSONS.size();
    }
}
