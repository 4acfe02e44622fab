package zoo.directbuffers;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import zoo.Series;

/** Buffers outside the heap that are given back and never taken again: each has a cleaner and little more in the heap. */
public final class DirectBuffers {
    static final Deque<ByteBuffer> free = new ArrayDeque<>();

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 900; i++) {
                ByteBuffer buffer = ByteBuffer.allocateDirect(64);
                buffer.putInt(i);
                free.push(buffer);
            }
            Series.dump(free.size());
        }
    }
}
