/*
 * Loaded into a JVM by tests: says how much of what native code has allocated was not freed, now and at most, every few milliseconds, into the
 * file that is its option. What the C library keeps of what was freed does not count.
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int file;

static void *look(void *unused) {
    size_t most = 0;
    for (;;) {
        struct mallinfo2 now = mallinfo2();
        size_t used = now.uordblks + now.hblkhd;
        most = used > most ? used : most;
        char text[64];
        int length = snprintf(text, sizeof text, "%020zu %020zu\n", used, most);
        if (pwrite(file, text, length, 0) != length) {
            return unused;
        }
        usleep(4000);
    }
}

int Agent_OnLoad(void *vm, char *options, void *reserved) {
    pthread_t thread;
    (void)vm;
    (void)reserved;
    file = open(options, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return file < 0 || pthread_create(&thread, NULL, look, NULL) != 0;
}
