/* Fails one call of a process that writes below a directory: a file system with one fault.

   fault_arm(N, errno, root): call N from now on (from 1) that writes, creates, renames, truncates or syncs below `root`
   fails with errno; 0 only counts. fault_seen() tells how many there were, fault_kind(N) what call N was. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define KEPT 65536
static long seen, at;
static int armed, code;
static char root[PATH_MAX];
static const char *kinds[KEPT];

void fault_arm(long number, int error, const char *where) {
    strncpy(root, where, sizeof root - 1);
    at = number;
    code = error;
    __atomic_store_n(&seen, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&armed, 1, __ATOMIC_SEQ_CST);
}
void fault_disarm(void) { __atomic_store_n(&armed, 0, __ATOMIC_SEQ_CST); }
long fault_seen(void) { return __atomic_load_n(&seen, __ATOMIC_SEQ_CST); }
const char *fault_kind(long number) {
    return number > 0 && number < KEPT && kinds[number] ? kinds[number] : "";
}

static int below(const char *path) { return path && strncmp(path, root, strlen(root)) == 0; }
static int below_fd(int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return below(path);
}
/* A name that is relative to an open folder, as `sojourn.files` gives all of its own. */
static int below_at(int fd, const char *path) { return path && (path[0] == '/' ? below(path) : fd >= 0 && below_fd(fd)); }
static int hit(const char *kind) {
    long number = __atomic_add_fetch(&seen, 1, __ATOMIC_SEQ_CST);
    if (number < KEPT) kinds[number] = kind;
    if (number != at) return 0;
    errno = code;
    return 1;
}
#define ARMED __atomic_load_n(&armed, __ATOMIC_SEQ_CST)
#define NEXT(name) static __typeof__(&name) next; if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define ON_FD(ret, name, kind, parameters, arguments) \
    ret name parameters { NEXT(name); if (ARMED && below_fd(fd) && hit(kind)) return -1; return next arguments; }
#define ON_NAME(ret, name, kind, where, which, parameters, arguments) \
    ret name parameters { NEXT(name); if (ARMED && below_at(where, which) && hit(kind)) return -1; return next arguments; }
#define ON_PATH(ret, name, kind, which, parameters, arguments) \
    ret name parameters { NEXT(name); if (ARMED && below(which) && hit(kind)) return -1; return next arguments; }

ON_FD(ssize_t, write, "write", (int fd, const void *data, size_t count), (fd, data, count))
ON_FD(ssize_t, pwrite, "write", (int fd, const void *data, size_t count, off_t where), (fd, data, count, where))
ON_FD(ssize_t, pwrite64, "write", (int fd, const void *data, size_t count, off64_t where), (fd, data, count, where))
ON_FD(ssize_t, writev, "write", (int fd, const struct iovec *data, int count), (fd, data, count))
ON_FD(int, fsync, "sync", (int fd), (fd))
ON_FD(int, fdatasync, "sync", (int fd), (fd))
ON_FD(int, ftruncate, "truncate", (int fd, off_t length), (fd, length))
ON_FD(int, ftruncate64, "truncate", (int fd, off64_t length), (fd, length))
ON_PATH(int, rename, "rename", to, (const char *from, const char *to), (from, to))
ON_NAME(int, renameat, "rename", b, to, (int a, const char *from, int b, const char *to), (a, from, b, to))
ON_PATH(int, mkdir, "make directory", path, (const char *path, mode_t mode), (path, mode))
ON_NAME(int, mkdirat, "make directory", at_fd, path, (int at_fd, const char *path, mode_t mode), (at_fd, path, mode))
ON_PATH(int, symlink, "link", path, (const char *target, const char *path), (target, path))

#define OPEN(name, where, parameters, arguments) \
    int name parameters { \
        NEXT(name); \
        mode_t mode = 0; \
        if (flags & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); } \
        if (ARMED && (flags & O_CREAT) && below_at(where, path) && hit("create")) return -1; \
        return next arguments; \
    }
OPEN(open, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, fd, (int fd, const char *path, int flags, ...), (fd, path, flags, mode))
OPEN(openat64, fd, (int fd, const char *path, int flags, ...), (fd, path, flags, mode))
