package city.sample.startup;

import java.util.ArrayDeque;
import java.util.Deque;

/** Data that is only needed in the beginning: shrinks from step to step. */
public final class WarmUp {
    private final Deque<int[]> chunks = new ArrayDeque<>();

    public WarmUp() {
        for (int i = 0; i < 1200; i++) {
            chunks.add(new int[24]);
        }
    }

    public void release(int count) {
        for (int i = 0; i < count; i++) {
            chunks.poll();
        }
    }
}
