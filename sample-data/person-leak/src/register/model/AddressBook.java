package register.model;

/** All addresses of the town. Made once, never changed. */
public final class AddressBook {
    private final Address[] addresses;

    public AddressBook(int count) {
        addresses = new Address[count];
        for (int i = 0; i < count; i++) {
            addresses[i] = new Address("Street ".concat(Integer.toString(i / 10)), i % 10 + 1);
        }
    }

    Address at(int index) {
        return addresses[index % addresses.length];
    }
}
