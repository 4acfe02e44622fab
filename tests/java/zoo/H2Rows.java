package zoo.h2rows;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import zoo.Series;

/** Every visit is written into a table in memory, and none is ever deleted. */
public final class H2Rows {
    public static void main(String[] arguments) throws Exception {
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:visits")) {
            connection.createStatement().execute("create table visit(id int primary key, page varchar(100), at timestamp)");
            PreparedStatement insert = connection.prepareStatement("insert into visit values(?, ?, current_timestamp)");
            int rows = 0;
            for (int round = 0; round < 5; round++) {
                for (int i = 0; i < 3000; i++) {
                    insert.setInt(1, rows);
                    insert.setString(2, "/page/of/the/shop/" + rows++);
                    insert.execute();
                }
                Series.dump(rows);
            }
        }
    }
}
