import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** An object with a field of each kind, strings of all sorts, and what people read of them. */
public class Values {
    enum Colour {
        RED,
        GREEN {
            @Override
            boolean isCalm() {
                return true;
            }
        };

        boolean isCalm() {
            return false;
        }
    }

    static class Base {
        int number = -7;
        private String shared = "of the base";
    }

    static class AllKinds extends Base {
        boolean yes = true;
        char letter = '\u20ac';
        float real = 1.5f;
        double precise = -0.1;
        byte tiny = -128;
        short small = 12345;
        int number = 1 << 30;
        long large = Long.MIN_VALUE;
        Object none = null;
        private String shared = "of the subclass";
        String empty = "";
        String latin = "na\u00efve \"quotes\"\n";
        String wide = "\u65e5\u672c \ud83d\ude00";
        String cut = "x".repeat(1000);
        Integer boxed = 4242;
        Long boxedLong = 1L << 40;
        Double boxedDouble = 2.5;
        Character boxedChar = '\u00e9';
        Boolean boxedBoolean = Boolean.TRUE;
        AtomicLong atomic = new AtomicLong(-5);
        Colour colour = Colour.RED;
        Colour calm = Colour.GREEN;
        Class<?> type = AllKinds.class;
        Thread thread;
        StringBuilder builder = new StringBuilder("half").append(" done");
        byte[] bytes = {0, 1, (byte) 0xff};
        byte[] text = {'p', 'l', 'a', 'i', 'n'};
        char[] chars = {'c', 'h'};
        int[] ints = {1, -2, 3};
        double[] doubles = {0.5, Double.NaN};
        boolean[] flags = {true, false};
        long[] nothing = {};
        Object[] objects = {this, null, "third"};
        int[][] nested = {{1}, null};
    }

    static AllKinds kept;
    static final long CONSTANT = 99L;
    static final List<AllKinds> LIST = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        kept = new AllKinds();
        kept.thread = new Thread(() -> {
            try {
                Thread.sleep(1_000_000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "worker \"1\"");
        kept.thread.setDaemon(true);
        kept.thread.start();
        LIST.add(kept);
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
    }
}
