package zoo.trie;

import zoo.Series;

/** A tree of letters with an array in each node, for what people have typed: it takes whatever they type. */
public final class Trie {
    static final Node typed = new Node();

    static final class Node {
        Node[] next;
        int count;
    }

    static void add(String word) {
        Node node = typed;
        for (int i = 0; i < word.length(); i++) {
            if (node.next == null) {
                node.next = new Node[26];
            }
            int letter = word.charAt(i) - 'a';
            if (node.next[letter] == null) {
                node.next[letter] = new Node();
            }
            node = node.next[letter];
        }
        node.count++;
    }

    public static void main(String[] arguments) throws Exception {
        long seed = 17;
        int words = 0;
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 400; i++) {
                StringBuilder word = new StringBuilder();
                for (int letter = 0; letter < 8; letter++) {
                    seed = seed * 6364136223846793005L + 1442695040888963407L;
                    word.append((char) ('a' + (seed >>> 33) % 26));
                }
                add(word.toString());
                words++;
            }
            Series.dump(words);
        }
    }
}
