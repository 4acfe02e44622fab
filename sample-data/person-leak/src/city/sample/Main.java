package city.sample;

import city.sample.config.Settings;
import city.sample.people.Address;
import city.sample.people.Person;
import city.sample.people.Registry;
import city.sample.startup.WarmUp;
import city.sample.web.RequestLog;
import city.sample.web.Session;
import city.sample.web.Sessions;
import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * A little web shop without a web: for each line of standard input it serves some requests, then says how many visitors
 * it remembers. Between two lines nothing happens, so a heap dump taken then is of a well-defined moment.
 */
public final class Main {
    private static final String[] STREETS = {"Main Street", "Mill Lane", "Harbour Road", "Station Square"};
    private static final Settings settings = new Settings();
    private static final Sessions sessions = new Sessions();
    private static final RequestLog log = new RequestLog();
    private static final WarmUp warmUp = new WarmUp();

    private Main() {
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        long served = 0;
        System.out.println("ready " + ProcessHandle.current().pid());
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            int requests = Integer.parseInt(line.trim());
            for (int i = 0; i < requests; i++) {
                serve(served++);
            }
            warmUp.release(60);
            System.out.println("visitors " + Registry.size());
        }
    }

    private static void serve(long number) {
        Session session = sessions.of(number / 5);
        session.open("/shop/item/" + settings.get((int) number));
        log.log("GET /shop/item/" + number);
        // Every fifth request is somebody new.
        if (number % 5 == 0) {
            long visitor = number / 5;
            Address address = new Address(STREETS[(int) (visitor % STREETS.length)], (int) visitor);
            Registry.remember(new Person("Visitor " + visitor, "visitor" + visitor + "@example.org", address));
        }
    }
}
