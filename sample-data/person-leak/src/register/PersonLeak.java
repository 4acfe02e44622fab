package register;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import register.cache.BufferPool;
import register.cache.PageCache;
import register.model.AddressBook;
import register.model.Person;
import register.report.Statistics;
import register.startup.Import;
import register.store.Configuration;
import register.store.PersonRegistry;
import register.web.Sessions;

/**
 * A small register of persons with a memory leak, made to be looked at as a city.
 *
 * <p>It answers requests in steps. One line on standard input, a number, is one step: so many requests are
 * answered, then one line on standard output says how many objects of each kind the program keeps. Between two
 * lines nothing runs and nothing is allocated, so that a heap dump taken there shows a moment that can be
 * reproduced. The line "collect" asks for a garbage collection. The end of the input ends the program.
 */
public final class PersonLeak {
    private static final AddressBook ADDRESSES = new AddressBook(300);
    private static final Configuration CONFIGURATION = new Configuration(250);
    private static final PageCache PAGES = new PageCache(400);
    private static final BufferPool BUFFERS = new BufferPool(16, 1024);
    private static final Statistics STATISTICS = new Statistics(365);
    private static final Import IMPORT = new Import(4_000);
    private static final Sessions SESSIONS = new Sessions();

    private PersonLeak() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader steps = new BufferedReader(new InputStreamReader(System.in), 256);
        int request = 0;
        report();
        for (String line = steps.readLine(); line != null; line = steps.readLine()) {
            if (line.equals("collect")) {
                System.gc();
            } else {
                int requests = Integer.parseInt(line.trim());
                for (int i = 0; i < requests; i++) {
                    answer(request++);
                }
                SESSIONS.expire(requests);
                IMPORT.release(350);
            }
            report();
        }
    }

    private static void answer(int request) {
        // The page needs the person only while it is written. The registry keeps it for ever.
        Person person = Person.random(request, ADDRESSES);
        PersonRegistry.remember(person);
        SESSIONS.open(request);
        PAGES.page(request % 1_000);
        BUFFERS.write(person.hashCode());
        STATISTICS.count(request % 365, CONFIGURATION.size());
    }

    private static void report() {
        System.out.print("ready persons=");
        System.out.print(PersonRegistry.size());
        System.out.print(" sessions=");
        System.out.print(SESSIONS.size());
        System.out.print(" pages=");
        System.out.print(PAGES.size());
        System.out.print(" imported=");
        System.out.println(IMPORT.size());
    }
}
