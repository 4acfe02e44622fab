package register.cache;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/** Buffers that are used again and again. */
public final class BufferPool {
    private final ArrayDeque<ByteBuffer> free = new ArrayDeque<>();

    public BufferPool(int count, int bytes) {
        for (int i = 0; i < count; i++) {
            free.add(ByteBuffer.allocate(bytes));
        }
    }

    public void write(int value) {
        ByteBuffer buffer = free.poll();
        buffer.clear();
        buffer.putInt(value);
        free.add(buffer);
    }
}
