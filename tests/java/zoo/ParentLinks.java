package zoo.parentlinks;

import java.util.ArrayList;
import java.util.List;
import zoo.Series;

/** A tree of components, each of which knows its parent and its window: dialogs are closed, but stay children of the window. */
public final class ParentLinks {
    public static void main(String[] arguments) throws Exception {
        Component window = new Component(null, null, "window");
        Component content = new Component(window, window, "content");
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 200; i++) {
                Component dialog = new Component(window, content, "dialog " + i);
                for (int j = 0; j < 6; j++) {
                    new Component(window, dialog, "button " + j);
                }
            }
            Series.dump(content.children.size());
        }
        System.out.println(window.name);
    }
}

final class Component {
    final Component window;
    final Component parent;
    final String name;
    final List<Component> children = new ArrayList<>(2);

    Component(Component window, Component parent, String name) {
        this.window = window;
        this.parent = parent;
        this.name = name;
        if (parent != null) {
            parent.children.add(this);
        }
    }
}
