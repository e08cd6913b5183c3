/* A machine whose own name no name service knows: preloaded into a process by LD_PRELOAD. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

static const char own[] = NAME;

int gethostname(char *name, size_t length) {
    if (length < sizeof own) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(name, own, sizeof own);
    return 0;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    static int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    if (node != NULL && strcmp(node, own) == 0) return EAI_NONAME;
    if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, "getaddrinfo");
    return next(node, service, hints, found);
}
