import com.github.benmanes.caffeine.cache.AsyncLoadingCache;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import gnu.trove.list.array.TIntArrayList;
import gnu.trove.list.linked.TLongLinkedList;
import gnu.trove.map.hash.THashMap;
import gnu.trove.map.hash.TIntObjectHashMap;
import gnu.trove.map.hash.TObjectIntHashMap;
import gnu.trove.set.hash.THashSet;
import gnu.trove.set.hash.TIntHashSet;
import gnu.trove.stack.array.TIntArrayStack;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.jctools.queues.MpmcArrayQueue;
import org.jctools.queues.MpscArrayQueue;
import org.jctools.queues.MpscChunkedArrayQueue;
import org.jctools.queues.MpscUnboundedArrayQueue;
import org.jctools.queues.SpscArrayQueue;
import org.jctools.queues.SpscUnboundedArrayQueue;
import org.mozilla.javascript.Context;
import org.mozilla.javascript.ScriptableObject;

/** Collections of more libraries, whose numbers of elements are known: each has a number of its own. */
public class MoreLibraries {
    static class Item {
        final int number;

        Item(int number) {
            this.number = number;
        }
    }

    static final List<Object> all = new ArrayList<>();

    static List<Item> items(int count) {
        List<Item> items = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            items.add(new Item(i));
        }
        return items;
    }

    static Map<Integer, Item> map(int count) {
        Map<Integer, Item> map = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            map.put(i, new Item(i));
        }
        return map;
    }

    static void caffeine() {
        Cache<Integer, Item> bounded = Caffeine.newBuilder().executor(Runnable::run).maximumSize(10_000).build();
        bounded.putAll(map(2000));
        for (int i = 0; i < 299; i++) {
            bounded.invalidate(i);
        }
        bounded.cleanUp();
        all.add(bounded);
        Cache<Integer, Item> unbounded = Caffeine.newBuilder().build();
        unbounded.putAll(map(1702));
        all.add(unbounded);
        AsyncLoadingCache<Integer, Item> loading =
            Caffeine.newBuilder().executor(Runnable::run).maximumSize(10_000).buildAsync(Item::new);
        map(1703).keySet().forEach(number -> loading.get(number).join());
        all.add(loading);
    }

    static void jctools() {
        all.add(filled(new MpscArrayQueue<>(2048), 1801));
        all.add(filled(new SpscArrayQueue<>(2048), 1802));
        all.add(filled(new MpscUnboundedArrayQueue<>(64), 1803));
        all.add(filled(new SpscUnboundedArrayQueue<>(64), 1804));
        all.add(filled(new MpmcArrayQueue<>(2048), 1805));
        all.add(filled(new MpscChunkedArrayQueue<>(64, 2048), 1806));
    }

    /** What came first is no longer in it. */
    static Queue<Item> filled(Queue<Item> queue, int count) {
        for (Item item : items(2 * count)) {
            queue.add(item);
            if (queue.size() > count) {
                queue.remove();
            }
        }
        return queue;
    }

    static void h2() throws Exception {
        MVStore store = new MVStore.Builder().open();
        all.add(store);
        MVMap<Integer, Item> put = store.openMap("put");
        put.putAll(map(1901));
        MVMap<Integer, Item> removed = store.openMap("removed");
        removed.putAll(map(2500));
        for (int i = 0; i < 598; i++) {
            removed.remove(i);
        }
        // Some of what was appended last is in no page yet.
        MVMap<Integer, Item> appended = store.openMap("appended", new MVMap.Builder<Integer, Item>().singleWriter());
        map(1903).forEach(appended::append);
        Connection connection = DriverManager.getConnection("jdbc:h2:mem:");
        all.add(connection);
        connection.createStatement().execute("create table numbers as select x from system_range(1, 1904)");
        all.add(connection.createStatement().executeQuery("select x from system_range(1, 1905)"));
    }

    static void rhino() {
        Context context = Context.enter();
        context.setOptimizationLevel(-1);
        context.setLanguageVersion(Context.VERSION_ES6);
        ScriptableObject scope = context.initStandardObjects();
        all.add(scope);
        String script =
            "var few = {}; for (var i = 0; i < 905; i++) few['key ' + i] = {};\n"
            + "var many = {}; for (var i = 0; i < 3000; i++) many['key ' + i] = {};\n"
            + "for (var i = 0; i < 999; i++) delete many['key ' + i];\n"
            + "var array = []; for (var i = 0; i < 2002; i++) array.push({});\n"
            + "var map = new Map(); for (var i = 0; i < 2500; i++) map.set('key ' + i, {});\n"
            + "for (var i = 0; i < 497; i++) map.delete('key ' + i);\n"
            + "var set = new Set(); for (var i = 0; i < 2004; i++) set.add({});\n";
        context.evaluateString(scope, script, "script", 1, null);
    }

    static void trove() {
        all.add(new THashMap<>(map(2101)));
        all.add(new THashSet<>(items(2102)));
        TIntObjectHashMap<Item> toObjects = new TIntObjectHashMap<>();
        map(2103).forEach(toObjects::put);
        all.add(toObjects);
        TObjectIntHashMap<Item> ofObjects = new TObjectIntHashMap<>();
        items(2104).forEach(item -> ofObjects.put(item, item.number));
        all.add(ofObjects);
        all.add(new TIntHashSet(map(2105).keySet()));
        TIntArrayList list = new TIntArrayList();
        map(2106).keySet().forEach(list::add);
        all.add(list);
        TLongLinkedList linked = new TLongLinkedList();
        map(2107).keySet().forEach(linked::add);
        all.add(linked);
        TIntArrayStack stack = new TIntArrayStack();
        map(2108).keySet().forEach(stack::push);
        all.add(stack);
    }

    public static void main(String[] arguments) throws Exception {
        caffeine();
        jctools();
        h2();
        rhino();
        trove();
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
    }
}
