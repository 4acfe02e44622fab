import java.util.function.IntUnaryOperator;

/**
 * A server that answers requests, each with four small objects that nobody needs afterwards. One of them, the handler, is the
 * same for every request: `fixed` creates it once. Arguments: requests, and perhaps `fixed`.
 */
final class Requests {
    static final class Promise { Object result; long id; Promise(long id) { this.id = id; } }
    static final class Monitored { final Promise of; int state; Monitored(Promise of) { this.of = of; } }
    static final class OnSuccess { final Monitored of; final Handler then; OnSuccess(Monitored of, Handler then) { this.of = of; this.then = then; } }
    static final class Handler { final IntUnaryOperator answer; int calls; Handler(IntUnaryOperator answer) { this.answer = answer; } }

    /** What is on its way: without it the compiler would put objects into registers. */
    static final OnSuccess[] PENDING = new OnSuccess[16];
    static final IntUnaryOperator ANSWER = n -> n + 1;
    static long sum;

    static void respond(int request, Handler handler) {
        OnSuccess done = new OnSuccess(new Monitored(new Promise(request)), handler);
        PENDING[request & 15] = done;
        sum += done.then.answer.applyAsInt((int) done.of.of.id);
    }

    public static void main(String[] arguments) throws InterruptedException {
        int requests = Integer.parseInt(arguments[0]);
        boolean fixed = arguments.length > 1 && arguments[1].equals("fixed");
        Handler once = new Handler(ANSWER);
        for (int request = 0; request < requests; request++) {
            respond(request, fixed ? once : new Handler(ANSWER));
        }
        System.gc();
        Thread.sleep(arguments.length > 2 ? Integer.parseInt(arguments[2]) : 1500);
        System.out.println(requests + " requests, sum " + sum);
    }
}
