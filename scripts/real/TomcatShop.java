import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.apache.catalina.Context;
import org.apache.catalina.session.StandardManager;
import org.apache.catalina.startup.Tomcat;

/**
 * A shop on an embedded Tomcat. Each visitor gets a session with a cart in it.
 *
 * <p>The argument is how long a session may rest, in seconds; -1 is what the shop that leaks says: for ever.
 */
public final class TomcatShop {
    private TomcatShop() {}

    /** What a visitor put aside. */
    static final class Article implements java.io.Serializable {
        final int number;
        final String name;

        Article(int number) {
            this.number = number;
            this.name = "article " + number;
        }
    }

    static final class Cart implements java.io.Serializable {
        final List<Article> articles = new ArrayList<>();
    }

    /** Puts the article into the cart of this visitor. */
    static final class Shop extends HttpServlet {
        private final int rest;

        Shop(int rest) {
            this.rest = rest;
        }

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            HttpSession session = request.getSession(true);
            session.setMaxInactiveInterval(rest);
            Cart cart = (Cart) session.getAttribute("cart");
            if (cart == null) {
                cart = new Cart();
                session.setAttribute("cart", cart);
            }
            int number = Integer.parseInt(request.getParameter("article"));
            for (int i = 0; i < 5; i++) {
                cart.articles.add(new Article(number + i));
            }
            response.setContentType("text/plain");
            response.getWriter().println(cart.articles.size() + " articles");
        }
    }

    public static void main(String[] arguments) throws Exception {
        File base = Files.createTempDirectory("tomcat").toFile();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(base.getPath());
        tomcat.setHostname("127.0.0.1");
        tomcat.setPort(0);
        Context shop = tomcat.addContext("", base.getPath());
        StandardManager sessions = new StandardManager();
        sessions.setProcessExpiresFrequency(1);
        sessions.setPathname(null);
        shop.setManager(sessions);
        Tomcat.addServlet(shop, "shop", new Shop(Integer.parseInt(arguments[0])));
        shop.addServletMappingDecoded("/cart", "shop");
        tomcat.getEngine().setBackgroundProcessorDelay(1);
        tomcat.getConnector().setProperty("maxThreads", "8");
        tomcat.getConnector().setProperty("minSpareThreads", "4");
        tomcat.start();
        System.out.println("ready " + ProcessHandle.current().pid() + " " + tomcat.getConnector().getLocalPort());
        // Serves until its input ends; "sessions" asks how many there are.
        while (System.in.read() >= 0) {
            System.out.println("sessions " + sessions.getActiveSessions());
        }
        tomcat.stop();
        System.exit(0);
    }
}
