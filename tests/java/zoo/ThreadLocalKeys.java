package zoo.threadlocalkeys;

import zoo.Series;

/** A ThreadLocal for each transaction: its value refers to it, so that the weak key of the thread's table never dies. */
public final class ThreadLocalKeys {
    static final class Transaction {
        final ThreadLocal<Transaction> current = new ThreadLocal<>();
        final long[] changes = new long[60];

        void begin() {
            current.set(this);
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 700; i++) {
                new Transaction().begin();
            }
            Series.dump((round + 1) * 700);
        }
    }
}
