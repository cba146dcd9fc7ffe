// Who opens devices for a program that cannot.
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>
#include <sys/stat.h>

#include "CBusesLinux.h"
#include "descriptor.h"

static _Atomic(tactus_device_opener) opener;

void tactus_set_device_opener(tactus_device_opener other) { atomic_store(&opener, other); }

int open_device(const char *path, int flags) {
  flags |= O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  int descriptor = open(path, flags);
  struct stat found;
  if (descriptor >= 0 && fstat(descriptor, &found) == 0 && S_ISFIFO(found.st_mode)) {
    close(descriptor);
    errno = ENOTTY;
    return -1;
  }
  tactus_device_opener other = atomic_load(&opener);
  if (descriptor >= 0 || !other) return descriptor;
  int error = errno;
  int opened = other(path, flags);
  if (opened >= 0) return opened;
  // It refuses what it does not know, and may be gone: then the first reason counts.
  errno = opened == -EPERM || opened == -EPIPE ? error : -opened;
  return -1;
}
