package agency;

import agency.service.JourneyService;
import agency.store.JourneyStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.sql.SQLException;

/**
 * A travel agency whose visitors look for places to go to: the same few places, again and again.
 *
 * <p>A number on standard input is one step: so many visitors. "collect" asks for a garbage collection. After each line one
 * line is printed, and nothing runs until the next.
 */
public final class Agency {
    private Agency() {}

    public static void main(String[] arguments) throws IOException, SQLException {
        try (JourneyStore store = new JourneyStore()) {
            JourneyService journeys = new JourneyService(store);
            BufferedReader steps = new BufferedReader(new InputStreamReader(System.in), 256);
            int visitors = 0;
            System.out.println("ready");
            for (String line = steps.readLine(); line != null; line = steps.readLine()) {
                if (line.equals("collect")) {
                    System.gc();
                } else {
                    for (int left = Integer.parseInt(line.trim()); left > 0; left--) {
                        journeys.findLocations(PLACES[visitors++ % PLACES.length], 20);
                    }
                }
                System.out.println("visitors=" + visitors + " cached=" + journeys.cached());
            }
        }
    }

    private static final String[] PLACES = {"bu", "lo", "be", "sa", "ma", "pa"};
}
