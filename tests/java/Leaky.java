import java.util.ArrayList;
import java.util.List;

/** Leaks sessions from one place, and makes much that dies at once in others. Ends after so many milliseconds, or never. */
public final class Leaky {
    static final class Session {
        final byte[] state = new byte[2000];
        final long number;

        Session(long number) {
            this.number = number;
        }
    }

    static final class Holder {
        long secretOfObject = java.nio.ByteBuffer.wrap("zq-objec".getBytes()).getLong();
    }

    static final List<Session> SESSIONS = new ArrayList<>();
    static final String SECRET = new String("zq-secret-" + "that-nobody-may-read-4711");
    static final byte[] SECRET_BYTES = "zq-bytes-of-a-password-0815".getBytes();
    static final char[] SECRET_CHARS = ("zq-characters-" + "of-a-key").toCharArray();
    /** Eight characters. */
    static final long[] SECRET_NUMBERS = {java.nio.ByteBuffer.wrap("zq-number".getBytes()).getLong()};
    /** Eight characters in a field of a class, and in one of an object. */
    static long secretOfClass = java.nio.ByteBuffer.wrap("zq-class".getBytes()).getLong();
    static final Holder HOLDER = new Holder();
    static long sum;

    static void login(long number) {
        SESSIONS.add(new Session(number));
    }

    static String page(long number) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 40; i++) {
            text.append("row ").append(number + i).append('\n');
        }
        return text.toString();
    }

    public static void main(String[] arguments) throws Exception {
        long until = arguments.length > 0 ? System.currentTimeMillis() + Long.parseLong(arguments[0]) : Long.MAX_VALUE;
        System.out.println("ready " + ProcessHandle.current().pid());
        for (long n = 0; System.currentTimeMillis() < until; n++) {
            for (int i = 0; i < 50; i++) {
                sum += page(n).length();
            }
            login(n);
            if (n % 20 == 0) {
                Thread.sleep(1);
            }
        }
        System.out.println("done " + SESSIONS.size() + " " + SECRET.length() + SECRET_BYTES.length + SECRET_CHARS.length + SECRET_NUMBERS.length + " " + (sum > 0) + (secretOfClass > HOLDER.secretOfObject));
    }
}
