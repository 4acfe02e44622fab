package register.store;

import java.util.HashMap;
import java.util.Map;

/** Settings read at the start: a hash map that never changes. */
public final class Configuration {
    private final Map<String, String> settings = new HashMap<>();

    public Configuration(int count) {
        for (int i = 0; i < count; i++) {
            String number = Integer.toString(i);
            settings.put("setting.".concat(number), "value ".concat(number));
        }
    }

    public int size() {
        return settings.size();
    }
}
