package zoo.timertasks;

import java.util.Timer;
import java.util.TimerTask;
import zoo.Series;

/** Reminders for in a month are cancelled a moment later; a cancelled one stays in the timer until it is the next in turn. */
public final class TimerTasks {
    static final class Reminder extends TimerTask {
        private final char[] text = new char[150];

        @Override
        public void run() {
            text[0] = '!';
        }
    }

    public static void main(String[] arguments) throws Exception {
        Timer timer = new Timer("reminders", true);
        // The timer drops cancelled tasks when they are first: this one is before them.
        timer.schedule(new Reminder(), 3600 * 1000);
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < 600; i++) {
                Reminder reminder = new Reminder();
                timer.schedule(reminder, 30L * 24 * 3600 * 1000 + i);
                reminder.cancel();
            }
            Series.dump((round + 1) * 600 + 1);
        }
    }
}
