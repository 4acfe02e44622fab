package city.sample.config;

import java.util.HashMap;
import java.util.Map;

/** Read once, never changed: constant. */
public final class Settings {
    private final Map<String, Integer> values = new HashMap<>();

    public Settings() {
        for (int i = 0; i < 3000; i++) {
            values.put("city.sample.setting." + i, i * 7919);
        }
    }

    public int get(int i) {
        return values.getOrDefault("city.sample.setting." + i % 3000, 0);
    }
}
