package zoo.h2healthy;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import zoo.Series;

/** Healthy: orders come and go, every statement and result set is closed; nothing is left of a round but a warm database. */
public final class H2Healthy {
    public static void main(String[] arguments) throws Exception {
        try (Connection shop = DriverManager.getConnection("jdbc:h2:mem:shop")) {
            shop.createStatement().execute("create table orders(id int primary key, customer int, article varchar(20))");
            int[] stored = {400, 400, 500, 350, 480, 420, 490, 450};
            for (int round = 0; round < stored.length; round++) {
                try (PreparedStatement delete = shop.prepareStatement("delete from orders")) {
                    delete.execute();
                }
                try (PreparedStatement insert = shop.prepareStatement("insert into orders values (?, ?, ?)")) {
                    for (int i = 0; i < stored[round]; i++) {
                        insert.setInt(1, i);
                        insert.setInt(2, i % 50);
                        insert.setString(3, "article " + i);
                        insert.execute();
                    }
                }
                long rows = 0;
                for (int i = 0; i < 100; i++) {
                    try (PreparedStatement select = shop.prepareStatement("select * from orders where customer = ?")) {
                        select.setInt(1, i % 50);
                        try (ResultSet result = select.executeQuery()) {
                            while (result.next()) {
                                rows++;
                            }
                        }
                    }
                }
                if (round >= 2) {
                    Series.dump(stored[round]);
                }
                System.out.println(rows + " rows");
            }
        }
    }
}
