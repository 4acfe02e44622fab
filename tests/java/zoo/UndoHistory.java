package zoo.undohistory;

import java.util.Stack;
import zoo.Series;

/** An editor in a local variable whose every state refers to the one before it, and a stack of commands, in the same object. */
public final class UndoHistory {
    public static void main(String[] arguments) throws Exception {
        Editor editor = new Editor();
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 600; i++) {
                editor.type((char) ('a' + i % 26));
            }
            Series.dump(editor.undo.size());
        }
        System.out.println("commands " + editor.undo.size());
    }
}

final class Editor {
    final Stack<Command> undo = new Stack<>();
    private State state = new State(null);

    void type(char letter) {
        if (Series.FIXED && undo.size() >= 100) {
            undo.clear();
            state = null;
        }
        state = new State(state);
        undo.push(new Command(state, letter));
    }
}

final class State {
    final State before;
    final char[] line = new char[100];

    State(State before) {
        this.before = before;
    }
}

record Command(State from, char letter) {}
