package city.sample.people;

/** Where somebody lives. Streets are shared. */
public final class Address {
    private final String street;
    private final int number;

    public Address(String street, int number) {
        this.street = street;
        this.number = number;
    }

    @Override
    public int hashCode() {
        return street.hashCode() * 31 + number;
    }
}
