package zoo.deleteonexit;

import java.io.File;
import zoo.Series;

/** Each upload has a temporary file that is to be deleted on exit: the JDK keeps the names until then. No class of this program keeps anything. */
public final class DeleteOnExit {
    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 2000; i++) {
                new File("/nowhere/at/all/uploads/of/customers/upload-" + (round * 2000 + i) + ".tmp").deleteOnExit();
            }
            Series.dump((round + 1) * 2000);
        }
        Runtime.getRuntime().halt(0);
    }
}
