/* Loads the recorder as a VM on musl would, and says what came of it. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments) {
    void *library = dlopen(arguments[1], RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) {
        printf("refused: %s\n", dlerror());
        return 0;
    }
    int (*load)(void *, char *, void *) = (int (*)(void *, char *, void *)) dlsym(library, "Agent_OnLoad");
    int (*attach)(void *, char *, void *) = (int (*)(void *, char *, void *)) dlsym(library, "Agent_OnAttach");
    printf("loaded\n");
    fflush(stdout);
    printf("%d %d\n", load(NULL, arguments[2], NULL), attach(NULL, arguments[2], NULL));
    return 0;
}
