package zoo.redeployed;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import zoo.Series;

/** An application that is deployed again and again leaves a value in a ThreadLocal of the server's thread, and by it all of itself. */
public final class Redeployed {
    public static void main(String[] arguments) throws Exception {
        ExecutorService server = Executors.newSingleThreadExecutor(work -> new Thread(work, "server-1"));
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 12; i++) {
                server.submit(Redeployed::deploy).get();
            }
            Series.dump((round + 1) * 12);
        }
        server.shutdown();
    }

    static Void deploy() throws Exception {
        URL here = Redeployed.class.getProtectionDomain().getCodeSource().getLocation();
        URLClassLoader loader = new URLClassLoader(new URL[] {here}, ClassLoader.getPlatformClassLoader());
        var constructor = loader.loadClass("zoo.redeployed.WebApplication").getDeclaredConstructor();
        constructor.setAccessible(true);
        ((Runnable) constructor.newInstance()).run();
        return null;
    }
}

final class WebApplication implements Runnable {
    static final ThreadLocal<WebApplication> CURRENT = new ThreadLocal<>();
    static final long[] CACHE = new long[1500];

    WebApplication() {}

    @Override
    public void run() {
        CURRENT.set(this);
    }
}
