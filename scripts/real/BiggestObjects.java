import java.io.File;
import java.io.PrintStream;
import java.util.List;
import org.graalvm.visualvm.lib.jfluid.heap.Heap;
import org.graalvm.visualvm.lib.jfluid.heap.HeapFactory;
import org.graalvm.visualvm.lib.jfluid.heap.Instance;
import org.graalvm.visualvm.lib.jfluid.heap.JavaClass;

/**
 * The objects that keep most alive, as VisualVM's heap library computes it: address, type, own bytes, retained bytes.
 * Into a second file what an object of each type takes: type, bytes.
 */
public final class BiggestObjects {
    private BiggestObjects() {}

    public static void main(String[] arguments) throws Exception {
        Heap heap = HeapFactory.createHeap(new File(arguments[0]));
        List<Instance> biggest = heap.getBiggestObjectsByRetainedSize(Integer.parseInt(arguments[1]));
        for (Instance instance : biggest) {
            String type = instance.getJavaClass().getName();
            System.out.printf("0x%x\t%s\t%d\t%d%n", instance.getInstanceId(), type, instance.getSize(), instance.getRetainedSize());
        }
        try (PrintStream sizes = new PrintStream(arguments[2])) {
            for (Object type : heap.getAllClasses()) {
                JavaClass each = (JavaClass) type;
                if (!each.isArray()) {
                    // What a class object takes it says, and adds to nobody's retained size.
                    int size = each.getName().equals("java.lang.Class") ? 0 : each.getInstanceSize();
                    sizes.printf("%s\t%d%n", each.getName(), size);
                }
            }
        }
    }
}
