package zoo.sharedowners;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import zoo.Series;

/** One manager whose map and list hold the same items: neither owns them alone, the manager does. */
public final class SharedOwners {
    static final ItemManager manager = new ItemManager();

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 1000; i++) {
                manager.add(new Item(round * 1000 + i));
            }
            Series.dump(manager.inOrder.size());
        }
    }
}

final class ItemManager {
    final Map<Integer, Item> byNumber = new HashMap<>();
    final List<Item> inOrder = new ArrayList<>();

    void add(Item item) {
        byNumber.put(item.number, item);
        inOrder.add(item);
    }
}

final class Item {
    final Integer number;
    final byte[] picture = new byte[200];

    Item(int number) {
        this.number = number;
    }
}
