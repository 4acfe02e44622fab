/** Has the VM collect: all of the heap so many times, or young objects while it makes so many megabytes. */
public final class Collects {
    static volatile Object sink;

    public static void main(String[] arguments) throws Exception {
        long number = Long.parseLong(arguments[1]);
        if (arguments[0].equals("all")) {
            for (long i = 0; i < number; i++) {
                System.gc();
                Thread.sleep(300);
            }
        } else {
            for (long i = 0; i < number; i++) {
                for (int n = 0; n < 100; n++) {
                    sink = new byte[10_000];
                }
                Thread.sleep(3);
            }
        }
        System.out.println("done");
    }
}
