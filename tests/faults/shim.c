/* Lets a call of the C library fail: preloaded into a process by LD_PRELOAD.

   Calls on files count where the file lies under one folder; allocations count from a size on. So manieth call of a
   kind, or all from there on, fails with an error number, or does half of what was asked. A process is armed by a call
   of fault_arm, or from its start by the environment variable COUNTERFOIL_FAULT. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { OPEN, READ, WRITE, SYNC, RENAME, LINK, UNLINK, TRUNCATE, MKDIR, MAP, ALLOCATE, LARGE, KINDS };
static const char *const names[KINDS] = {"open", "read",     "write", "sync", "rename",  "link",
                                         "unlink", "truncate", "mkdir", "map", "allocate", "allocate much"};

#define DESCRIPTORS 65536
static unsigned char watched[DESCRIPTORS];
static char under[4096];
static size_t under_length;
static const size_t smallest = 1 << 12, large = 1 << 16;
static int failing_kind = -1, error_number, halves, lasting;
static long failing_call;
static atomic_int armed;
static atomic_long counts[KINDS];
static atomic_long fired;

/* The C library's own, which are never this file's. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

/* 0: the call goes on. 1: it fails, errno is set. 2: it does half. */
static int due(enum kind kind) {
    if (!armed) return 0;
    long now = ++counts[kind];
    if ((int)kind != failing_kind || !(now == failing_call || (lasting && now > failing_call))) return 0;
    ++fired;
    if (halves) return 2;
    errno = error_number;
    return 1;
}

static int begins_under(const char *path) {
    return strncmp(path, under, under_length) == 0 && (path[under_length] == 0 || path[under_length] == '/');
}

static int lies_under(int folder, const char *path) {
    if (!armed || path == NULL) return 0;
    if (path[0] == '/') return begins_under(path);
    if (folder != AT_FDCWD) return folder >= 0 && folder < DESCRIPTORS && watched[folder];
    char here[4096];
    return getcwd(here, sizeof here) != NULL && begins_under(here);
}

static int is_watched(int descriptor) {
    return armed && descriptor >= 0 && descriptor < DESCRIPTORS && watched[descriptor];
}

static int known(int descriptor, int is) {
    if (descriptor >= 0 && descriptor < DESCRIPTORS) watched[descriptor] = (unsigned char)is;
    return descriptor;
}

/* What this file's function of a name stands before. */
#define REAL(name)                                                            \
    (*({                                                                      \
        static __typeof__(&name) found;                                       \
        if (found == NULL) found = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
        &found;                                                               \
    }))

int fault_arm(const char *folder, const char *kind, long call, int number, int half, int stays) {
    failing_kind = -1;
    for (int one = 0; one < KINDS; ++one) {
        counts[one] = 0;
        if (strcmp(kind, names[one]) == 0) failing_kind = one;
    }
    snprintf(under, sizeof under, "%s", folder);
    under_length = strlen(under);
    failing_call = call, error_number = number, halves = half, lasting = stays, fired = 0;
    armed = 1;
    return failing_kind;
}

/* From now on nothing fails; how often each kind was called, and last how many calls failed. */
void fault_end(long *found) {
    armed = 0;
    for (int one = 0; one < KINDS; ++one) found[one] = counts[one];
    found[KINDS] = fired;
}

__attribute__((constructor)) static void arm_from_environment(void) {
    const char *text = getenv("COUNTERFOIL_FAULT");
    char folder[4096], kind[32];
    long call;
    int number, half, stays;
    if (text != NULL && sscanf(text, "%ld %d %d %d %31[^/]%4095[^\n]", &call, &number, &half, &stays, kind, folder) == 6) {
        kind[strcspn(kind, ":")] = 0;
        fault_arm(folder, kind, call, number, half, stays);
    }
}

/* Each size has a count of its own: most allocations are Python's, and large ones are tensors. */
static int no_memory(size_t size) {
    int small = armed && size >= smallest && due(ALLOCATE) == 1;
    int much = armed && size >= large && due(LARGE) == 1;
    return small || much;
}

#define OPENS(name)                                                           \
    int name(const char *path, int flags, ...) {                              \
        mode_t mode = 0;                                                      \
        if (flags & (O_CREAT | __O_TMPFILE)) {                                \
            va_list rest;                                                     \
            va_start(rest, flags);                                            \
            mode = va_arg(rest, mode_t);                                      \
            va_end(rest);                                                     \
        }                                                                     \
        int ours = lies_under(AT_FDCWD, path);                                \
        if (ours && due(OPEN) == 1) return -1;                                \
        return known(REAL(name)(path, flags, mode), ours);                    \
    }
OPENS(open)
OPENS(open64)

#define OPENS_AT(name)                                                        \
    int name(int folder, const char *path, int flags, ...) {                  \
        mode_t mode = 0;                                                      \
        if (flags & (O_CREAT | __O_TMPFILE)) {                                \
            va_list rest;                                                     \
            va_start(rest, flags);                                            \
            mode = va_arg(rest, mode_t);                                      \
            va_end(rest);                                                     \
        }                                                                     \
        int ours = lies_under(folder, path);                                  \
        if (ours && due(OPEN) == 1) return -1;                                \
        return known(REAL(name)(folder, path, flags, mode), ours);            \
    }
OPENS_AT(openat)
OPENS_AT(openat64)

int dup(int descriptor) {
    return known(REAL(dup)(descriptor), is_watched(descriptor));
}

int close(int descriptor) {
    known(descriptor, 0);
    return REAL(close)(descriptor);
}

/* Half of nothing, and of one byte, is what was asked. */
#define HALF(size) ((size) > 1 ? (size) / 2 : (size))
#define MOVES(name, kind, buffer)                                             \
    ssize_t name(int descriptor, buffer data, size_t size) {                  \
        if (is_watched(descriptor)) {                                         \
            int what = due(kind);                                             \
            if (what == 1) return -1;                                         \
            if (what == 2) size = HALF(size);                                 \
        }                                                                     \
        return REAL(name)(descriptor, data, size);                            \
    }
MOVES(read, READ, void *)
MOVES(write, WRITE, const void *)

#define MOVES_AT(name, kind, buffer, place)                                   \
    ssize_t name(int descriptor, buffer data, size_t size, place offset) {    \
        if (is_watched(descriptor)) {                                         \
            int what = due(kind);                                             \
            if (what == 1) return -1;                                         \
            if (what == 2) size = HALF(size);                                 \
        }                                                                     \
        return REAL(name)(descriptor, data, size, offset);                    \
    }
MOVES_AT(pread, READ, void *, off_t)
MOVES_AT(pread64, READ, void *, off64_t)
MOVES_AT(pwrite, WRITE, const void *, off_t)
MOVES_AT(pwrite64, WRITE, const void *, off64_t)

#define VECTORS(name, kind)                                                   \
    ssize_t name(int descriptor, const struct iovec *parts, int count) {      \
        if (is_watched(descriptor) && due(kind) == 1) return -1;              \
        return REAL(name)(descriptor, parts, count);                          \
    }
VECTORS(readv, READ)
VECTORS(writev, WRITE)

#define VECTORS_AT(name, kind, place)                                         \
    ssize_t name(int descriptor, const struct iovec *parts, int count, place offset) { \
        if (is_watched(descriptor) && due(kind) == 1) return -1;              \
        return REAL(name)(descriptor, parts, count, offset);                  \
    }
VECTORS_AT(preadv, READ, off_t)
VECTORS_AT(preadv64, READ, off64_t)
VECTORS_AT(pwritev, WRITE, off_t)
VECTORS_AT(pwritev64, WRITE, off64_t)

#define SYNCS(name)                                                           \
    int name(int descriptor) {                                                \
        if (is_watched(descriptor) && due(SYNC) == 1) return -1;              \
        return REAL(name)(descriptor);                                        \
    }
SYNCS(fsync)
SYNCS(fdatasync)

#define TRUNCATES(name, place)                                                \
    int name(int descriptor, place size) {                                    \
        if (is_watched(descriptor) && due(TRUNCATE) == 1) return -1;          \
        return REAL(name)(descriptor, size);                                  \
    }
TRUNCATES(ftruncate, off_t)
TRUNCATES(ftruncate64, off64_t)

#define ALLOCATES_ROOM(name, place)                                           \
    int name(int descriptor, place offset, place size) {                      \
        if (is_watched(descriptor) && due(TRUNCATE) == 1) return error_number; \
        return REAL(name)(descriptor, offset, size);                          \
    }
ALLOCATES_ROOM(posix_fallocate, off_t)
ALLOCATES_ROOM(posix_fallocate64, off64_t)

int rename(const char *old, const char *new) {
    if (lies_under(AT_FDCWD, new) && due(RENAME) == 1) return -1;
    return REAL(rename)(old, new);
}
int renameat(int from, const char *old, int to, const char *new) {
    if (lies_under(to, new) && due(RENAME) == 1) return -1;
    return REAL(renameat)(from, old, to, new);
}
int link(const char *old, const char *new) {
    if (lies_under(AT_FDCWD, new) && due(LINK) == 1) return -1;
    return REAL(link)(old, new);
}
int linkat(int from, const char *old, int to, const char *new, int flags) {
    if (lies_under(to, new) && due(LINK) == 1) return -1;
    return REAL(linkat)(from, old, to, new, flags);
}
int unlink(const char *path) {
    if (lies_under(AT_FDCWD, path) && due(UNLINK) == 1) return -1;
    return REAL(unlink)(path);
}
int unlinkat(int folder, const char *path, int flags) {
    if (lies_under(folder, path) && due(UNLINK) == 1) return -1;
    return REAL(unlinkat)(folder, path, flags);
}
int mkdir(const char *path, mode_t mode) {
    if (lies_under(AT_FDCWD, path) && due(MKDIR) == 1) return -1;
    return REAL(mkdir)(path, mode);
}
int mkdirat(int folder, const char *path, mode_t mode) {
    if (lies_under(folder, path) && due(MKDIR) == 1) return -1;
    return REAL(mkdirat)(folder, path, mode);
}

#define MAPS(name, place)                                                     \
    void *name(void *where, size_t size, int protection, int flags, int descriptor, place offset) { \
        if (descriptor >= 0 ? is_watched(descriptor) && due(MAP) == 1         \
                            : no_memory(size))                                \
            return MAP_FAILED;                                                \
        return REAL(name)(where, size, protection, flags, descriptor, offset); \
    }
MAPS(mmap, off_t)
MAPS(mmap64, off64_t)

void *malloc(size_t size) {
    return no_memory(size) ? NULL : __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
    return no_memory(count * size) ? NULL : __libc_calloc(count, size);
}
void *realloc(void *old, size_t size) {
    return no_memory(size) ? NULL : __libc_realloc(old, size);
}
void *memalign(size_t alignment, size_t size) {
    return no_memory(size) ? NULL : __libc_memalign(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
    return no_memory(size) ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void **found, size_t alignment, size_t size) {
    if (no_memory(size)) return ENOMEM;
    *found = __libc_memalign(alignment, size);
    return *found == NULL ? ENOMEM : 0;
}
