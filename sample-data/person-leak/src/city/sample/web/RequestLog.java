package city.sample.web;

/** A ring of the last requests: constant. */
public final class RequestLog {
    private final String[] last = new String[1500];
    private int next;

    public void log(String request) {
        last[next] = request;
        next = (next + 1) % last.length;
    }
}
