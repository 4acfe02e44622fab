package zoo.producerdeque;

import java.util.ArrayDeque;
import zoo.Series;

/** The same in a thread of its own, with an ArrayDeque. */
public final class ProducerDeque {
    public static void main(String[] arguments) throws Exception {
        Thread producer = new Thread(ProducerDeque::produce, "producer");
        producer.start();
        producer.join();
    }

    static void produce() {
        ArrayDeque<Reading> readings = new ArrayDeque<>();
        try {
            for (int round = 0; round < 5; round++) {
                for (int i = 0; i < 1000; i++) {
                    readings.add(new Reading(i, "sensor " + i % 7));
                    if (Series.FIXED) {
                        readings.poll();
                    }
                }
                Series.dump(readings.size());
            }
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        System.out.println("left " + readings.size());
    }
}

record Reading(double value, String sensor) {}
