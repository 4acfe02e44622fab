/** What another loader of its own loads. */
public final class Addon {
    static Object first;

    public static void begin() {
        first = new Addon();
    }
}
