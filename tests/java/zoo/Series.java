package zoo;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.File;
import java.lang.management.ManagementFactory;

/** The dumps that a program takes of itself, of live objects, into the folder that the property {@code dumps} names. */
public final class Series {
    private static final HotSpotDiagnosticMXBean VM;
    private static int taken;

    static {
        try {
            VM = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
            // Once for nothing: what the first dump loads and keeps is there before the series begins.
            File first = File.createTempFile("first", ".hprof");
            first.delete();
            VM.dumpHeap(first.getPath(), true);
            first.delete();
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private Series() {}

    /** Takes the next one and says how many elements there are in what leaks. */
    public static void dump(long elements) throws java.io.IOException {
        taken++;
        VM.dumpHeap(new File(System.getProperty("dumps"), String.format("%02d.hprof", taken)).getPath(), true);
        System.out.println("elements " + elements);
    }
}
