package zoo.binarytree;

import java.util.Random;
import zoo.Series;

/** A search tree written by hand that only ever gets new words. */
public final class BinaryTree {
    private static final WordIndex INDEX = new WordIndex();

    public static void main(String[] arguments) throws Exception {
        Random random = new Random(7);
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 3000; i++) {
                INDEX.add("word " + random.nextInt());
            }
            Series.dump(INDEX.size);
        }
    }
}

final class WordIndex {
    private Word top;
    int size;

    void add(String text) {
        if (top == null) {
            top = new Word(text);
            size++;
            return;
        }
        Word at = top;
        while (true) {
            int order = text.compareTo(at.text);
            if (order == 0) {
                return;
            }
            Word next = order < 0 ? at.before : at.after;
            if (next == null) {
                next = new Word(text);
                if (order < 0) {
                    at.before = next;
                } else {
                    at.after = next;
                }
                size++;
                return;
            }
            at = next;
        }
    }
}

final class Word {
    final String text;
    Word before;
    Word after;

    Word(String text) {
        this.text = text;
    }
}
