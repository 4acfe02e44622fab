package zoo.renamedthread;

import java.util.ArrayList;
import java.util.List;
import zoo.Series;

/** A worker that is named after the job it is at, and collects in a local variable what it has done. */
public final class RenamedThread {
    record Done(int job, byte[] result) {}

    public static void main(String[] arguments) throws Exception {
        Thread worker = new Thread(RenamedThread::work, "worker");
        worker.start();
        worker.join();
    }

    static void work() {
        List<Done> done = new ArrayList<>();
        try {
            for (int round = 0; round < 4; round++) {
                for (int i = 0; i < 900; i++) {
                    Thread.currentThread().setName("worker at job " + (round * 900 + i));
                    done.add(new Done(i, new byte[200]));
                }
                Series.dump(done.size());
            }
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        System.out.println("done " + done.size());
    }
}
