import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import org.apache.commons.httpclient.HostConfiguration;
import org.apache.commons.httpclient.HttpConnection;
import org.apache.commons.httpclient.MultiThreadedHttpConnectionManager;
import org.apache.commons.httpclient.params.HttpConnectionManagerParams;

/**
 * The leak of host connection pools in Commons HttpClient 3.1.
 *
 * <p>One shared connection manager with a high limit, and ever new hosts: for each, the manager puts a pool into a map
 * and takes it out only when the last connection of that host is closed, which is never. No connection is opened,
 * so nothing outside this process is needed: asking for one is enough.
 *
 * <p>A number on standard input is one step: so many new hosts. "close" is the remedy: idle connections are closed.
 * "collect" asks for a garbage collection. After each line one line is printed, and nothing runs until the next.
 */
public final class HttpPool {
    private HttpPool() {}

    public static void main(String[] arguments) throws IOException {
        HttpConnectionManagerParams limits = new HttpConnectionManagerParams();
        limits.setMaxTotalConnections(1_000_000);
        MultiThreadedHttpConnectionManager manager = new MultiThreadedHttpConnectionManager();
        manager.setParams(limits);

        int hosts = 0;
        BufferedReader steps = new BufferedReader(new InputStreamReader(System.in), 256);
        System.out.println("ready hosts=0 connections=0");
        for (String line = steps.readLine(); line != null; line = steps.readLine()) {
            if (line.equals("close")) {
                manager.closeIdleConnections(0);
            } else if (line.equals("collect")) {
                System.gc();
            } else {
                for (int left = Integer.parseInt(line.trim()); left > 0; left--) {
                    HostConfiguration host = new HostConfiguration();
                    host.setHost("host-" + hosts++ + ".example", 80);
                    HttpConnection connection = manager.getConnectionWithTimeout(host, 1_000);
                    connection.releaseConnection();
                }
            }
            System.out.println("ready hosts=" + hosts + " connections=" + manager.getConnectionsInPool());
        }
        manager.shutdown();
    }
}
