package zoo.streamhandles;

import java.io.ObjectOutputStream;
import java.io.OutputStream;
import zoo.Series;

/** An ObjectOutputStream that is never reset remembers every object ever written to it. */
public final class StreamHandles {
    record Tick(int number, String text) implements java.io.Serializable {}

    public static void main(String[] arguments) throws Exception {
        ObjectOutputStream out = new ObjectOutputStream(OutputStream.nullOutputStream());
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 1000; i++) {
                out.writeObject(new Tick(i, "tick " + round + "." + i));
            }
            // Each tick and its text.
            Series.dump((round + 1) * 2000);
        }
        out.close();
    }
}
