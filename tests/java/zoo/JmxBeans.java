package zoo.jmxbeans;

import java.lang.management.ManagementFactory;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import zoo.Series;

/** Each connection registers a bean with the platform's server and closes without taking it out. */
public final class JmxBeans {
    public interface ConnectionMBean {
        long getBytes();
    }

    public static final class Connection implements ConnectionMBean {
        private final long[] perMinute = new long[60];

        @Override
        public long getBytes() {
            return perMinute[0];
        }
    }

    public static void main(String[] arguments) throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        int opened = 0;
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 250; i++) {
                server.registerMBean(new Connection(), new ObjectName("com.acme:type=Connection,number=" + opened++));
            }
            Series.dump(opened);
        }
    }
}
