package zoo.cancelledtimers;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import zoo.Series;

/** A time limit for each request, cancelled in time: cancelled tasks stay in the executor's queue until they are due, in an hour. */
public final class CancelledTimers {
    static final ScheduledThreadPoolExecutor LIMITS = new ScheduledThreadPoolExecutor(1);

    public static void main(String[] arguments) throws Exception {
        LIMITS.setRemoveOnCancelPolicy(Series.FIXED);
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 600; i++) {
                byte[] request = new byte[500];
                ScheduledFuture<?> limit = LIMITS.schedule(() -> request[0]++, 1, TimeUnit.HOURS);
                limit.cancel(false);
            }
            Series.dump(LIMITS.getQueue().size());
        }
        LIMITS.shutdownNow();
    }
}
