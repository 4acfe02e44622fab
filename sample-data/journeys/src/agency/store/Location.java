package agency.store;

import java.util.Date;

/** A place to go to. */
public final class Location {
    final String name;
    final Date created;

    Location(String name, Date created) {
        this.name = name;
        this.created = created;
    }
}
