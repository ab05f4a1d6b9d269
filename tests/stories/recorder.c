/* Preloaded into a process, writes down in order what it does to the files of one folder: HOLDFAST_RECORD_FOLDER.

   A record is appended by one writev, so records of several processes do not mix. A write is recorded once it was
   made, a sync before and after: only writes recorded before a sync began are sure to be covered by it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 1, TRUNCATE, SYNC_BEGINS, SYNC_ENDS, UNLINK };

struct record {
    uint32_t magic, kind;
    uint64_t offset, length; /* for a sync, the offset is the thread's id */
    char name[40];           /* within the folder; empty is the folder itself */
};

static int record_log = -1;
static char folder[4096];

static ssize_t (*real_pwrite)(int, const void *, size_t, off64_t);
static int (*real_truncate)(int, off64_t);
static int (*real_datasync)(int);
static int (*real_sync)(int);
static int (*real_unlink)(const char *);

__attribute__((constructor)) static void begin(void) {
    real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
    real_truncate = dlsym(RTLD_NEXT, "ftruncate64");
    real_datasync = dlsym(RTLD_NEXT, "fdatasync");
    real_sync = dlsym(RTLD_NEXT, "fsync");
    real_unlink = dlsym(RTLD_NEXT, "unlink");
    const char *where = getenv("HOLDFAST_RECORD_FOLDER"), *log = getenv("HOLDFAST_RECORD_LOG");
    if (!where || !log) return;
    snprintf(folder, sizeof folder, "%s", where);
    record_log = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (record_log < 0) abort();
}

/* The name of a recorded file, or null. The shared memory of SQLite is no part of the disk. */
static const char *recorded(const char *path) {
    size_t length = strlen(folder);
    if (record_log < 0 || strncmp(path, folder, length) != 0) return NULL;
    if (path[length] == 0) return "";
    const char *name = path + length + 1;
    if (path[length] != '/' || strchr(name, '/') || strstr(name, "-shm")) return NULL;
    return name;
}

static const char *name_of(int file, char *path, size_t size) {
    char link[64];
    if (record_log < 0) return NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, size - 1);
    if (length <= 0) return NULL;
    path[length] = 0;
    return recorded(path);
}

static void note(int kind, const char *name, uint64_t offset, const void *data, uint64_t length) {
    struct record head = {.magic = 0xD15C0001, .kind = kind, .offset = offset, .length = length};
    strncpy(head.name, name, sizeof head.name - 1);
    struct iovec parts[2] = {{&head, sizeof head}, {(void *)data, length}};
    if (writev(record_log, parts, length ? 2 : 1) != (ssize_t)(sizeof head + length)) abort();
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t offset) {
    char path[4200];
    ssize_t written = real_pwrite(file, data, size, offset);
    const char *name = written > 0 ? name_of(file, path, sizeof path) : NULL;
    if (name) note(WRITE, name, offset, data, written);
    return written;
}

ssize_t pwrite(int file, const void *data, size_t size, off_t offset) { return pwrite64(file, data, size, offset); }

int ftruncate64(int file, off64_t size) {
    char path[4200];
    int failed = real_truncate(file, size);
    const char *name = failed ? NULL : name_of(file, path, sizeof path);
    if (name) note(TRUNCATE, name, size, NULL, 0);
    return failed;
}

int ftruncate(int file, off_t size) { return ftruncate64(file, size); }

static int recorded_sync(int file, int (*sync)(int)) {
    char path[4200];
    const char *name = name_of(file, path, sizeof path);
    if (name) note(SYNC_BEGINS, name, syscall(SYS_gettid), NULL, 0);
    int failed = sync(file);
    if (name && !failed) note(SYNC_ENDS, name, syscall(SYS_gettid), NULL, 0);
    return failed;
}

int fdatasync(int file) { return recorded_sync(file, real_datasync); }

int fsync(int file) { return recorded_sync(file, real_sync); }

int unlink(const char *path) {
    int failed = real_unlink(path);
    const char *name = failed ? NULL : recorded(path);
    if (name) note(UNLINK, name, 0, NULL, 0);
    return failed;
}
