package zoo.classloaders;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import zoo.Series;

/** A host of plugins, each with a class loader of its own, that forgets to forget those it replaced. */
public final class ClassLoaders {
    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 15; i++) {
                PluginHost.replace();
            }
            Series.dump(PluginHost.loaded.size());
        }
    }
}

final class PluginHost {
    static final List<Object> loaded = new ArrayList<>();

    static void replace() throws Exception {
        URL here = PluginHost.class.getProtectionDomain().getCodeSource().getLocation();
        URLClassLoader loader = new URLClassLoader(new URL[] {here}, ClassLoader.getPlatformClassLoader());
        var constructor = loader.loadClass("zoo.classloaders.Plugin").getDeclaredConstructor();
        constructor.setAccessible(true);
        loaded.add(constructor.newInstance());
    }
}

final class Plugin {
    /** Each loader has a table of its own. */
    static final long[] TABLE = new long[1000];

    Plugin() {}
}
