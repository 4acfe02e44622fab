package zoo.boundedpool;

import java.util.ArrayDeque;
import java.util.Deque;
import zoo.Series;

/** Healthy: a pool of buffers that grows with demand up to its limit, which it reaches between the dumps. */
public final class BoundedPool {
    static final Deque<byte[]> free = new ArrayDeque<>();

    public static void main(String[] arguments) throws Exception {
        int[] demand = {30, 60, 64, 50, 64, 40, 64};
        for (int wanted : demand) {
            Deque<byte[]> taken = new ArrayDeque<>();
            for (int i = 0; i < wanted; i++) {
                byte[] buffer = free.poll();
                taken.push(buffer == null ? new byte[16_384] : buffer);
            }
            while (!taken.isEmpty() && free.size() < 64) {
                free.push(taken.pop());
            }
            Series.dump(free.size());
        }
    }
}
