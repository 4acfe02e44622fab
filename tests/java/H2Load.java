import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/**
 * A shop on an H2 database in memory, with two things that grow.
 *
 * <p>Its cache of prepared statements is keyed by the text of the SQL, and the text has the customer's number in it: a
 * statement, and the result set it was last used for, stay open for every customer. And orders are never archived.
 *
 * <p>A line "customers orders" on standard input is one step. After each, one line says what is held, and nothing runs
 * until the next.
 */
public final class H2Load {
    private static final Map<String, PreparedStatement> STATEMENTS = new HashMap<>();
    private static final Map<String, ResultSet> RESULTS = new HashMap<>();

    private H2Load() {}

    public static void main(String[] arguments) throws Exception {
        try (Connection shop = DriverManager.getConnection("jdbc:h2:mem:shop")) {
            shop.createStatement().execute("create table orders(id int primary key, customer int, article varchar(20))");
            int customers = 0;
            int orders = 0;
            BufferedReader steps = new BufferedReader(new InputStreamReader(System.in), 256);
            System.out.println("ready " + ProcessHandle.current().pid());
            for (String line = steps.readLine(); line != null; line = steps.readLine()) {
                String[] step = line.trim().split(" ");
                for (int i = Integer.parseInt(step[1]); i > 0; i--) {
                    insert(shop, orders, orders % 50);
                    orders++;
                }
                for (int i = Integer.parseInt(step[0]); i > 0; i--) {
                    ordersOf(shop, customers++);
                }
                System.out.println("statements " + STATEMENTS.size() + " orders " + orders);
            }
        }
    }

    private static void insert(Connection shop, int id, int customer) throws SQLException {
        // As it should be done: parameters instead of numbers in the text, and closed after use.
        try (PreparedStatement statement = shop.prepareStatement("insert into orders values (?, ?, ?)")) {
            statement.setInt(1, id);
            statement.setInt(2, customer);
            statement.setString(3, "article " + id);
            statement.execute();
        }
    }

    private static void ordersOf(Connection shop, int customer) throws SQLException {
        String sql = "select count(*) from orders where customer = " + customer;
        PreparedStatement statement = STATEMENTS.get(sql);
        if (statement == null) {
            statement = shop.prepareStatement(sql);
            STATEMENTS.put(sql, statement);
        }
        ResultSet result = statement.executeQuery();
        result.next();
        RESULTS.put(sql, result);
    }
}
