package zoo.h2results;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;
import zoo.Series;

/** Reports on a database whose result sets are never closed, since each is still in the list of open reports. */
public final class H2Results {
    public static void main(String[] arguments) throws Exception {
        try (Connection shop = DriverManager.getConnection("jdbc:h2:mem:shop")) {
            shop.createStatement().execute("create table orders(id int primary key, customer int, article varchar(20))");
            try (PreparedStatement insert = shop.prepareStatement("insert into orders values (?, ?, ?)")) {
                for (int i = 0; i < 500; i++) {
                    insert.setInt(1, i);
                    insert.setInt(2, i % 50);
                    insert.setString(3, "article " + i);
                    insert.execute();
                }
            }
            ReportDesk desk = new ReportDesk(shop);
            for (int round = 0; round < 5; round++) {
                for (int i = 0; i < 60; i++) {
                    desk.show(i % 50);
                }
                Series.dump(desk.open.size());
            }
            System.out.println(desk.open.size());
        }
    }
}

final class ReportDesk {
    private final Connection shop;
    final List<Report> open = new ArrayList<>();

    ReportDesk(Connection shop) {
        this.shop = shop;
    }

    void show(int customer) throws java.sql.SQLException {
        PreparedStatement orders = shop.prepareStatement("select * from orders where customer = ? order by article");
        orders.setInt(1, customer);
        open.add(new Report("orders of " + customer, orders.executeQuery()));
    }
}

record Report(String title, ResultSet rows) {}
