/** Holds so many megabytes in arrays for so many milliseconds, and makes garbage meanwhile, so that collections come. */
public final class Large {
    static final java.util.List<byte[]> held = new java.util.ArrayList<>();
    static volatile Object sink;

    public static void main(String[] arguments) throws Exception {
        int megabytes = Integer.parseInt(arguments[0]);
        for (int i = 0; i < megabytes; i++) {
            held.add(new byte[1 << 20]);
        }
        System.out.println("ready " + ProcessHandle.current().pid());
        long until = System.currentTimeMillis() + Long.parseLong(arguments[1]);
        while (System.currentTimeMillis() < until) {
            for (int i = 0; i < 2000; i++) {
                sink = new long[64];
            }
            Thread.sleep(1);
        }
        System.out.println("done " + held.size());
    }
}
