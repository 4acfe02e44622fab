/** What a loader of its own loads, and keeps. */
public final class Plugin {
    static final class Order { long a; }

    static Order[] orders;

    public static void begin() {
        orders = new Order[7];
        for (int i = 0; i < orders.length; i++) {
            orders[i] = new Order();
        }
    }
}
