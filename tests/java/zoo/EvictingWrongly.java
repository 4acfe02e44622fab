package zoo.evictingwrongly;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import zoo.Series;

/** A bounded cache, and beside it an index by tag that is not told when the cache forgets: the entries stay in the index. */
public final class EvictingWrongly {
    static final ArticleStore STORE = new ArticleStore();

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 1000; i++) {
                STORE.add(new Article(round * 1000 + i, new byte[200]));
            }
            Series.dump(STORE.all);
        }
    }
}

final class ArticleStore {
    static final int MOST = 300;
    int all;
    final Map<Integer, Article> recent = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Article> eldest) {
            return size() > MOST;
        }
    };
    final Map<String, Set<Article>> byTag = new HashMap<>();

    void add(Article article) {
        all++;
        recent.put(article.number(), article);
        byTag.computeIfAbsent("tag " + article.number() % 8, tag -> new HashSet<>()).add(article);
    }
}

record Article(int number, byte[] text) {}
