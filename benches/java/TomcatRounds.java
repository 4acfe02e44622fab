import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/** An embedded Tomcat that answers four visitors at a time, each page with a session and some text. */
public final class TomcatRounds implements Rounds.Work {
    static final class Page extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            List<String> rows = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                rows.add("row " + i + " of " + request.getParameter("page"));
            }
            response.setContentType("text/plain");
            for (String row : rows) {
                response.getWriter().println(row);
            }
        }
    }

    private final int port;

    public TomcatRounds() throws Exception {
        File base = Files.createTempDirectory("tomcat").toFile();
        base.deleteOnExit();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(base.getPath());
        tomcat.setHostname("127.0.0.1");
        tomcat.setPort(0);
        Context context = tomcat.addContext("", base.getPath());
        Tomcat.addServlet(context, "page", new Page());
        context.addServletMappingDecoded("/page", "page");
        tomcat.getConnector().setProperty("maxThreads", "8");
        tomcat.start();
        port = tomcat.getConnector().getLocalPort();
    }

    @Override
    public void round() throws Exception {
        Thread[] threads = new Thread[4];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> {
                try {
                    for (int i = 0; i < 1500; i++) {
                        HttpURLConnection page = (HttpURLConnection)
                                URI.create("http://127.0.0.1:" + port + "/page?page=" + i).toURL().openConnection();
                        try (InputStream in = page.getInputStream()) {
                            Rounds.sink = in.readAllBytes();
                        }
                    }
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
