package zoo.softcache;

import java.lang.ref.SoftReference;
import zoo.Series;

/** Pictures that only soft references keep, in a fixed number of places: the VM would give them up before it runs out of memory. */
public final class SoftCache {
    @SuppressWarnings("unchecked")
    static final SoftReference<Picture>[] pictures = new SoftReference[400];

    record Picture(int number, byte[] pixels) {}

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < pictures.length; i++) {
            pictures[i] = new SoftReference<>(null);
        }
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 100; i++) {
                pictures[round * 100 + i] = new SoftReference<>(new Picture(i, new byte[8000]));
            }
            Series.dump(pictures.length);
        }
    }
}
