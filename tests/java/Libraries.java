import clojure.lang.PersistentArrayMap;
import clojure.lang.PersistentHashMap;
import clojure.lang.PersistentHashSet;
import clojure.lang.PersistentList;
import clojure.lang.PersistentQueue;
import clojure.lang.PersistentTreeMap;
import clojure.lang.PersistentVector;
import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import com.google.common.collect.ArrayListMultimap;
import com.google.common.collect.EvictingQueue;
import com.google.common.collect.HashBiMap;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.LinkedListMultimap;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.LongObjectHashMap;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import scala.Tuple2;
import scala.collection.concurrent.TrieMap;
import scala.collection.immutable.VectorBuilder;
import scala.collection.mutable.ArrayBuffer;
import scala.collection.mutable.ListBuffer;

/** Collections of libraries, whose numbers of elements are known: each has a number of its own. */
public class Libraries {
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

    static void guava() {
        all.add(ImmutableList.copyOf(items(1301)));
        all.add(ImmutableSet.copyOf(items(1302)));
        all.add(ImmutableMap.copyOf(map(1303)));
        all.add(HashBiMap.create(map(1304)));
        ArrayListMultimap<Integer, Item> lists = ArrayListMultimap.create();
        items(1305).forEach(item -> lists.put(item.number % 7, item));
        all.add(lists);
        LinkedListMultimap<Integer, Item> linked = LinkedListMultimap.create();
        items(1306).forEach(item -> linked.put(item.number % 7, item));
        all.add(linked);
        Cache<Integer, Item> cache = CacheBuilder.newBuilder().maximumSize(10_000).build();
        cache.putAll(map(1307));
        all.add(cache);
        EvictingQueue<Item> queue = EvictingQueue.create(1308);
        queue.addAll(items(2000));
        all.add(queue);
    }

    static void clojure() {
        all.add(PersistentVector.create(items(1401)));
        all.add(PersistentHashMap.create(map(1402)));
        all.add(PersistentHashSet.create(items(1403)));
        all.add(PersistentTreeMap.create(map(1404)));
        all.add(PersistentList.create(items(1405)));
        PersistentQueue queue = PersistentQueue.EMPTY;
        for (Item item : items(1406)) {
            queue = queue.cons(item);
        }
        all.add(queue);
        all.add(PersistentArrayMap.create(map(7)));
    }

    static void scala() {
        ArrayBuffer<Item> buffer = new ArrayBuffer<>();
        items(1501).forEach(buffer::$plus$eq);
        all.add(buffer);
        ListBuffer<Item> list = new ListBuffer<>();
        items(1502).forEach(list::$plus$eq);
        all.add(list);
        scala.collection.mutable.HashMap<Integer, Item> map = new scala.collection.mutable.HashMap<>();
        map(1503).forEach(map::put);
        all.add(map);
        scala.collection.mutable.HashSet<Item> set = new scala.collection.mutable.HashSet<>();
        items(1504).forEach(set::add);
        all.add(set);
        scala.collection.mutable.LinkedHashMap<Integer, Item> linked = new scala.collection.mutable.LinkedHashMap<>();
        map(1505).forEach(linked::put);
        all.add(linked);
        VectorBuilder<Item> vector = new VectorBuilder<>();
        items(1506).forEach(vector::$plus$eq);
        all.add(vector.result());
        scala.collection.immutable.HashMap<Integer, Item> trie = new scala.collection.immutable.HashMap<>();
        for (Map.Entry<Integer, Item> entry : map(1507).entrySet()) {
            trie = trie.$plus(new Tuple2<>(entry.getKey(), entry.getValue()));
        }
        all.add(trie);
        TrieMap<Integer, Item> concurrent = new TrieMap<>();
        map(1508).forEach(concurrent::put);
        all.add(concurrent);
    }

    static void netty() {
        IntObjectHashMap<Item> ints = new IntObjectHashMap<>();
        items(1601).forEach(item -> ints.put(item.number, item));
        all.add(ints);
        LongObjectHashMap<Item> longs = new LongObjectHashMap<>();
        items(1602).forEach(item -> longs.put(item.number, item));
        all.add(longs);
    }

    public static void main(String[] arguments) throws Exception {
        guava();
        clojure();
        scala();
        netty();
        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
    }
}
