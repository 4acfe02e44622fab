package agency.store;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** The agency's database, in memory. */
public final class JourneyStore implements AutoCloseable {
    private final Connection database;
    private final PreparedStatement byName;

    public JourneyStore() throws SQLException {
        database = DriverManager.getConnection("jdbc:h2:mem:agency");
        database.createStatement().execute("create table location(name varchar(40) primary key, created timestamp)");
        try (PreparedStatement insert = database.prepareStatement("insert into location values (?, ?)")) {
            for (String first : new String[] {"bu", "lo", "be", "sa", "ma", "pa"}) {
                for (int i = 0; i < 40; i++) {
                    insert.setString(1, first + "rg-" + i);
                    insert.setTimestamp(2, new java.sql.Timestamp(1_600_000_000_000L + i * 86_400_000L));
                    insert.executeUpdate();
                }
            }
        }
        byName = database.prepareStatement("select name, created from location where name like ? limit ?");
    }

    /** Places whose names begin so. */
    public List<Location> locations(String name, int most) throws SQLException {
        byName.setString(1, name + "%");
        byName.setInt(2, most);
        List<Location> found = new ArrayList<>(most);
        try (ResultSet rows = byName.executeQuery()) {
            while (rows.next()) {
                found.add(new Location(rows.getString(1), new java.util.Date(rows.getTimestamp(2).getTime())));
            }
        }
        return found;
    }

    @Override
    public void close() throws SQLException {
        database.close();
    }
}
