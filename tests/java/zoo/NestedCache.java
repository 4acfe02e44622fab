package zoo.nestedcache;

import java.util.HashMap;
import java.util.Map;
import zoo.Series;

/** A cache deep inside a server: of five modules with a cache each, that of the fourth is not bounded. */
public final class NestedCache {
    static final Server SERVER = new Server();

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 1000; i++) {
                for (Module module : SERVER.modules) {
                    module.answer(round * 1000 + i);
                }
            }
            Series.dump(SERVER.modules[3].cache.entries.size());
        }
    }
}

final class Server {
    final Module[] modules = {new Module(200), new Module(200), new Module(200), new Module(Series.FIXED ? 200 : Integer.MAX_VALUE), new Module(200)};
}

final class Module {
    final Cache cache;

    Module(int most) {
        cache = new Cache(most);
    }

    void answer(int question) {
        cache.of(question);
    }
}

final class Cache {
    final Map<Integer, Answer> entries = new HashMap<>();
    private final int most;

    Cache(int most) {
        this.most = most;
    }

    Answer of(int question) {
        if (entries.size() >= most) {
            entries.clear();
        }
        return entries.computeIfAbsent(question, Answer::new);
    }
}

final class Answer {
    final int question;
    final String text;

    Answer(int question) {
        this.question = question;
        this.text = "the answer to " + question + " in some more words than would be needed";
    }
}
