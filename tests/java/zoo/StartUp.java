package zoo.startup;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import zoo.Series;

/** Healthy: much is loaded while it starts, between the first dump and the third; then it serves, and nothing stays. */
public final class StartUp {
    static final Map<String, List<String>> dictionary = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        Series.dump(dictionary.size());
        for (int part = 0; part < 2; part++) {
            for (int i = 0; i < 4000; i++) {
                dictionary.put("word " + part + "-" + i, new ArrayList<>(List.of("meaning " + i, "other meaning " + i)));
            }
            Series.dump(dictionary.size());
        }
        for (int round = 0; round < 4; round++) {
            long letters = 0;
            for (int i = 0; i < 20_000; i++) {
                letters += new ArrayList<>(dictionary.getOrDefault("word 0-" + i % 4000, List.of())).toString().length();
            }
            Series.dump(dictionary.size());
            System.out.println("letters " + letters);
        }
    }
}
