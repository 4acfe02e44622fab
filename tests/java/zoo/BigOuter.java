package zoo.bigouter;

import java.util.ArrayList;
import java.util.List;
import zoo.Series;

/** A small task for each document, of an inner class: it holds the document with all its text. */
public final class BigOuter {
    private static final Agenda AGENDA = new Agenda();

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 100; i++) {
                AGENDA.later(new Document(i).reminder());
            }
            Series.dump(AGENDA.size());
        }
    }
}

final class Agenda {
    private final List<Runnable> tasks = new ArrayList<>();

    void later(Runnable task) {
        tasks.add(task);
    }

    int size() {
        return tasks.size();
    }
}

final class Document {
    private final int number;
    private final char[] text = new char[3000];

    Document(int number) {
        this.number = number;
    }

    Runnable reminder() {
        return new Reminder();
    }

    final class Reminder implements Runnable {
        @Override
        public void run() {
            System.out.println("read document " + number);
        }
    }
}
