package zoo.reloaded;

import java.util.TreeMap;
import zoo.Series;

/** Healthy: the configuration is read anew each round and replaces the old: all objects are others, and as many. */
public final class Reloaded {
    static TreeMap<String, Setting> settings;

    record Setting(String name, String value, long read) {}

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 5; round++) {
            TreeMap<String, Setting> fresh = new TreeMap<>();
            for (int i = 0; i < 3000; i++) {
                String name = "setting " + i;
                fresh.put(name, new Setting(name, "value " + (i * 31 + round) % 1000, round));
            }
            settings = fresh;
            Series.dump(settings.size());
        }
    }
}
