package zoo.personlist;

import java.util.ArrayList;
import java.util.List;
import zoo.Series;

/** A registry that everybody is written into and nobody is taken out of. */
public final class PersonList {
    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 1500; i++) {
                PersonRegistry.persons.add(new Person("person " + i, new Address("street " + i, i)));
            }
            if (Series.FIXED) {
                PersonRegistry.persons.subList(0, PersonRegistry.persons.size() - 200).clear();
            }
            Series.dump(PersonRegistry.persons.size());
        }
    }
}

final class PersonRegistry {
    static final List<Person> persons = new ArrayList<>();
}

record Address(String street, int number) {}

record Person(String name, Address address) {}
