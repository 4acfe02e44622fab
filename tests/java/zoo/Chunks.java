package zoo.chunks;

import java.util.Arrays;
import zoo.Series;

/** A file in memory, in pieces of 4 KB: nothing but arrays of bytes. */
public final class Chunks {
    static final MemoryFile upload = new MemoryFile();

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 120; i++) {
                upload.write(new byte[4096]);
            }
            Series.dump(upload.chunks.length);
        }
    }
}

final class MemoryFile {
    byte[][] chunks = {};

    void write(byte[] chunk) {
        if (Series.FIXED && chunks.length == 60) {
            chunks = new byte[0][];
        }
        chunks = Arrays.copyOf(chunks, chunks.length + 1);
        chunks[chunks.length - 1] = chunk;
    }
}
