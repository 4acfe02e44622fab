package zoo.tenantqueues;

import java.util.HashMap;
import java.util.Map;
import zoo.Series;

/** Queues of one class for each tenant. That of one tenant is never emptied; that of another is long, and as long as ever. */
public final class TenantQueues {
    public static void main(String[] arguments) throws Exception {
        Scheduler scheduler = new Scheduler();
        for (int tenant = 0; tenant < 10; tenant++) {
            scheduler.of("tenant " + tenant).add(new Job());
        }
        for (int i = 0; i < 4000; i++) {
            scheduler.of("archive").add(new Job());
        }
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 600; i++) {
                scheduler.of("acme").add(new Job());
            }
            Series.dump(scheduler.of("acme").size);
        }
    }
}

final class Scheduler {
    private final Map<String, JobQueue> queues = new HashMap<>();

    JobQueue of(String tenant) {
        return queues.computeIfAbsent(tenant, name -> new JobQueue());
    }
}

final class JobQueue {
    private JobLink head;
    private JobLink tail;
    int size;

    void add(Job job) {
        JobLink last = new JobLink(job);
        if (tail == null) {
            head = last;
        } else {
            tail.following = last;
        }
        tail = last;
        size++;
    }
}

final class JobLink {
    final Job job;
    JobLink following;

    JobLink(Job job) {
        this.job = job;
    }
}

final class Job {
    final int[] data = new int[20];
}
