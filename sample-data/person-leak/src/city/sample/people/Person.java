package city.sample.people;

/** A visitor. Its name and mail address are its own strings: they grow with it, but are not what leaks. */
public final class Person {
    private final String name;
    private final String mail;
    private final Address address;
    private int visits;

    public Person(String name, String mail, Address address) {
        this.name = name;
        this.mail = mail;
        this.address = address;
    }

    public String name() {
        return name;
    }

    public int visit() {
        return ++visits;
    }

    public int describe() {
        return name.length() + mail.length() + address.hashCode() + visits;
    }
}
