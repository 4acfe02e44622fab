package register.model;

/** A house that many persons share. */
public final class Address {
    private final String street;
    private final int number;

    Address(String street, int number) {
        this.street = street;
        this.number = number;
    }

    int number() {
        return number + street.length();
    }
}
