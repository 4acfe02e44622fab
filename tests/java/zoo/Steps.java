package zoo.steps;

import java.util.ArrayList;
import java.util.List;
import zoo.Series;

/** Something is left behind by the nightly import alone: for two dumps nothing happens, then there is more again. */
public final class Steps {
    static final List<ImportedFile> imported = new ArrayList<>();

    record ImportedFile(String name, byte[] text) {}

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 7; round++) {
            if (round % 2 == 0) {
                for (int i = 0; i < 250; i++) {
                    imported.add(new ImportedFile("file " + i, new byte[1000]));
                }
            }
            Series.dump(imported.size());
            if (Series.FIXED) {
                imported.clear();
            }
        }
    }
}
