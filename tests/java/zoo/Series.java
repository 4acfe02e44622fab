package zoo;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/** The dumps that a program takes of itself, of live objects, into the folder that the property {@code dumps} names. */
public final class Series {
    /** Whether the program does what its leak lacks ({@code -Dfixed=true}). */
    public static final boolean FIXED = Boolean.getBoolean("fixed");

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

    /** Waits until what the VM has cleared is in its queues: where all cores are busy its thread for that may come late. */
    public static void untilCleared() throws InterruptedException {
        // Twice: the second comes after all that was found with the first.
        for (int i = 0; i < 2; i++) {
            ReferenceQueue<Object> cleared = new ReferenceQueue<>();
            WeakReference<Object> last = new WeakReference<>(new Object(), cleared);
            System.gc();
            if (cleared.remove(60_000) != last) {
                throw new IllegalStateException("nothing was cleared for a minute");
            }
        }
    }

    /** Takes the next one and says how many elements there are in what leaks. */
    public static void dump(long elements) throws java.io.IOException {
        taken++;
        VM.dumpHeap(new File(System.getProperty("dumps"), String.format("%02d.hprof", taken)).getPath(), true);
        System.out.println("elements " + elements);
    }
}
