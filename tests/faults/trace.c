/* Writes down what a process does to files, for tests/faults/power.py: one line per call. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static void note(const char *what, const char *path, const char *other)
{
    char line[9000];
    const char *log = getenv("TRACE_LOG");
    int n = snprintf(line, sizeof line, "%s\t%s\t%s\n", what, path, other), fd;
    static int (*own_open)(const char *, int, ...);
    static ssize_t (*own_write)(int, const void *, size_t);
    if (!log || n <= 0) return;
    if (!own_open) own_open = dlsym(RTLD_NEXT, "open");
    if (!own_write) own_write = dlsym(RTLD_NEXT, "write");
    fd = own_open(log, O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (fd < 0) abort();
    if (own_write(fd, line, (size_t)n) != n) abort();
    close(fd);
}

static void note_fd(const char *what, int fd)
{
    char link[64], path[4096];
    ssize_t n;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof path - 1);
    if (n <= 0 || path[0] != '/') return;
    path[n] = 0;
    note(what, path, "");
}

#define OWN(name) \
    static __typeof__(&name) own; \
    if (!own) own = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

int unlink(const char *p)
{
    OWN(unlink);
    note("unlink", p, "");
    return own(p);
}

int rename(const char *p, const char *q)
{
    OWN(rename);
    note("rename", p, q);
    return own(p, q);
}

int link(const char *p, const char *q)
{
    OWN(link);
    note("link", p, q);
    return own(p, q);
}

int linkat(int a, const char *p, int b, const char *q, int flags)
{
    OWN(linkat);
    note("link", p, q);
    return own(a, p, b, q, flags);
}

int fsync(int fd)
{
    OWN(fsync);
    int result = own(fd);
    note_fd("sync", fd);
    return result;
}

int fdatasync(int fd)
{
    OWN(fdatasync);
    int result = own(fd);
    note_fd("sync", fd);
    return result;
}

int ftruncate64(int fd, off64_t n)
{
    OWN(ftruncate64);
    note_fd("write", fd);
    return own(fd, n);
}

ssize_t pwrite64(int fd, const void *content, size_t n, off64_t at)
{
    OWN(pwrite64);
    note_fd("write", fd);
    return own(fd, content, n, at);
}

ssize_t pwrite(int fd, const void *content, size_t n, off_t at)
{
    OWN(pwrite);
    note_fd("write", fd);
    return own(fd, content, n, at);
}

ssize_t write(int fd, const void *content, size_t n)
{
    OWN(write);
    note_fd("write", fd);
    return own(fd, content, n);
}
