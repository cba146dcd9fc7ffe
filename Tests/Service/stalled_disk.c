// A disk that stalls: syncs wait while the file that STALLED_DISK names exists, and say so in a file beside it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void wait_for_disk(void) {
  const char *stall = getenv("STALLED_DISK");
  if (stall == NULL) return;
  char waiting[4096];
  snprintf(waiting, sizeof waiting, "%s.waiting", stall);
  while (access(stall, F_OK) == 0) {
    int descriptor = open(waiting, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor >= 0) close(descriptor);
    usleep(10000);
  }
}

int fsync(int descriptor) {
  wait_for_disk();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(descriptor);
}

int fdatasync(int descriptor) {
  wait_for_disk();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(descriptor);
}
