import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * Ever new names and stacks: classes that are made up, each with a name of its own, allocate at ever other depths; some of what
 * they make stays. The fourth argument says how many threads do so, one if there is none.
 */
public final class Storm {
    static final List<Object> KEPT = new ArrayList<>();
    static volatile Object sink;

    public interface Maker {
        Object make(int depth, long way);
    }

    public static void main(String[] arguments) throws Exception {
        int kept = Integer.parseInt(arguments[0]);
        int classes = Integer.parseInt(arguments[1]);
        int stacks = Integer.parseInt(arguments[2]);
        for (int i = 0; i < kept; i++) {
            KEPT.add(new long[4]);
        }
        Loader loader = new Loader();
        for (int i = 0; i < classes; i++) {
            Object made = loader.define("made.up.Of" + "AVeryLongName".repeat(8) + i).getDeclaredConstructor().newInstance();
            if (i % 2 == 0) {
                KEPT.add(made);
            }
        }
        int threads = arguments.length > 3 ? Integer.parseInt(arguments[3]) : 1;
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            long seed = 0x9E3779B97F4A7C15L * (i + 1);
            all[i] = new Thread(() -> stacks(seed, stacks / threads));
            all[i].start();
        }
        for (Thread thread : all) {
            thread.join();
        }
        System.gc();
        Thread.sleep(2000);
        System.out.println("resident " + resident());
        System.out.println("done " + KEPT.size());
    }

    static void stacks(long seed, int count) {
        long way = seed;
        for (int i = 0; i < count; i++) {
            way = way * 6364136223846793005L + 1442695040888963407L;
            sink = Stacks.deep(40, way >>> 20);
        }
    }

    /** Kilobytes of memory that the process has. */
    static long resident() throws Exception {
        for (String line : java.nio.file.Files.readAllLines(java.nio.file.Path.of("/proc/self/status"))) {
            if (line.startsWith("RssAnon:")) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        return -1;
    }

    static final class Loader extends ClassLoader {
        /** A class without anything but a constructor, written by hand. */
        Class<?> define(String name) throws Exception {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            DataOutputStream out = new DataOutputStream(bytes);
            out.writeInt(0xCAFEBABE);
            out.writeInt(52);
            out.writeShort(10);
            utf8(out, name.replace('.', '/'));
            out.writeByte(7);
            out.writeShort(1);
            utf8(out, "java/lang/Object");
            out.writeByte(7);
            out.writeShort(3);
            utf8(out, "<init>");
            utf8(out, "()V");
            utf8(out, "Code");
            out.writeByte(12);
            out.writeShort(5);
            out.writeShort(6);
            out.writeByte(10);
            out.writeShort(4);
            out.writeShort(8);
            out.writeShort(0x21);
            out.writeShort(2);
            out.writeShort(4);
            out.writeShort(0);
            out.writeShort(0);
            out.writeShort(1);
            out.writeShort(1);
            out.writeShort(5);
            out.writeShort(6);
            out.writeShort(1);
            out.writeShort(7);
            out.writeInt(17);
            out.writeShort(1);
            out.writeShort(1);
            out.writeInt(5);
            out.write(new byte[] {0x2a, (byte) 0xb7, 0, 9, (byte) 0xb1});
            out.writeShort(0);
            out.writeShort(0);
            out.writeShort(0);
            byte[] all = bytes.toByteArray();
            return defineClass(name, all, 0, all.length);
        }

        static void utf8(DataOutputStream out, String text) throws Exception {
            out.writeByte(1);
            out.writeUTF(text);
        }
    }
}
