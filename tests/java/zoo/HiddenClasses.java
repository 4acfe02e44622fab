package zoo.hiddenclasses;

import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.List;
import zoo.Series;

/** Each script is compiled into a class of its own, and a list keeps the classes: no instance of them is anywhere. */
public final class HiddenClasses {
    static final List<Class<?>> compiled = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        byte[] code;
        try (InputStream in = HiddenClasses.class.getResourceAsStream("Script.class")) {
            code = in.readAllBytes();
        }
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 60; i++) {
                compiled.add(MethodHandles.lookup().defineHiddenClass(code, true).lookupClass());
            }
            Series.dump(compiled.size());
        }
    }
}

final class Script {
    static final int[] CONSTANTS = new int[300];
}
