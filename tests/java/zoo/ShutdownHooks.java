package zoo.shutdownhooks;

import zoo.Series;

/** A hook for each session, to save it should the program end meanwhile; no session takes its hook back. */
public final class ShutdownHooks {
    static final class Save extends Thread {
        private final byte[] session = new byte[1500];

        @Override
        public void run() {
            session[0] = 1;
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 60; i++) {
                Runtime.getRuntime().addShutdownHook(new Save());
            }
            Series.dump((round + 1) * 60);
        }
    }
}
