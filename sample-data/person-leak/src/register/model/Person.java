package register.model;

/** What leaks: a person with a name and a telephone number of their own, and an address shared with others. */
public final class Person {
    private static final String[] FIRST = {
        "Anna", "Bruno", "Clara", "David", "Elif", "Franz", "Greta", "Hana", "Ivan", "Julia", "Kofi", "Lena", "Maja",
    };
    private static final String[] LAST = {
        "Adler", "Berger", "Conti", "Dvorak", "Eder", "Fischer", "Gruber", "Huber", "Ito", "Jansen", "Kaya",
    };

    private final int number;
    private final int born;
    private final String name;
    private final String telephone;
    private final Address address;

    private Person(int number, int born, String name, String telephone, Address address) {
        this.number = number;
        this.born = born;
        this.name = name;
        this.telephone = telephone;
        this.address = address;
    }

    /** A person who depends on the number only, so that two recordings hold the same persons. */
    public static Person random(int number, AddressBook addresses) {
        int mixed = Math.floorMod(number * 0x9E3779B1, 1 << 30);
        String name = FIRST[mixed % FIRST.length].concat(LAST[mixed / 64 % LAST.length]);
        String telephone = Integer.toString(100_000_000 + number * 17);
        return new Person(number, 1930 + mixed % 90, name, telephone, addresses.at(mixed / 4));
    }

    @Override
    public int hashCode() {
        return number * 31 + born + name.length() + telephone.length() + address.number();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Person && ((Person) other).number == number;
    }
}
