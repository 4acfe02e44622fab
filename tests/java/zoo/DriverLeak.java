package zoo.driverleak;

import java.net.URL;
import java.net.URLClassLoader;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.util.Properties;
import java.util.logging.Logger;
import zoo.Series;

/** Each deployment registers a driver that its own class loader has loaded; undeployed, it stays registered, with the loader. */
public final class DriverLeak {
    public static void main(String[] arguments) throws Exception {
        URL here = DriverLeak.class.getProtectionDomain().getCodeSource().getLocation();
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 12; i++) {
                ClassLoader application = new URLClassLoader(new URL[] {here}, ClassLoader.getPlatformClassLoader());
                Class.forName("zoo.driverleak.ShopDriver", true, application);
            }
            Series.dump((round + 1) * 12);
        }
    }
}

final class ShopDriver implements Driver {
    static final long[] CACHE = new long[500];

    static {
        try {
            DriverManager.registerDriver(new ShopDriver());
        } catch (java.sql.SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public Connection connect(String url, Properties properties) {
        return null;
    }

    @Override
    public boolean acceptsURL(String url) {
        return false;
    }

    @Override
    public DriverPropertyInfo[] getPropertyInfo(String url, Properties properties) {
        return new DriverPropertyInfo[0];
    }

    @Override
    public int getMajorVersion() {
        return 1;
    }

    @Override
    public int getMinorVersion() {
        return 0;
    }

    @Override
    public boolean jdbcCompliant() {
        return false;
    }

    @Override
    public Logger getParentLogger() {
        return null;
    }
}
