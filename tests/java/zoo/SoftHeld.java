package zoo.softheld;

import java.lang.ref.SoftReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import zoo.Series;

/** Thumbnails that are softly held, under keys that never come again: the map grows, and what the VM could let go of with it. */
public final class SoftHeld {
    static final Map<Integer, SoftReference<byte[]>> thumbnails = new ConcurrentHashMap<>();

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 500; i++) {
                if (Series.FIXED && thumbnails.size() >= 300) {
                    thumbnails.clear();
                }
                thumbnails.put(round * 500 + i, new SoftReference<>(new byte[1000]));
            }
            Series.dump(thumbnails.size());
        }
    }
}
