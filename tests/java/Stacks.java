/** Ever new stacks, by the ways that numbers tell. */
final class Stacks {
    private Stacks() {
    }

    /** Allocates so deep; one of two ways at each step: stacks differ in their lines. */
    static Object deep(int depth, long way) {
        if (depth == 0) {
            return new long[4];
        }
        if ((way & 1) == 0) {
            return deep(depth - 1, way >> 1);
        } else {
            return deep(depth - 1, way >> 1);
        }
    }
}
