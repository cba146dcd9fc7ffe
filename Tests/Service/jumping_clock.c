// A wall clock that somebody sets, and time that passes: what JUMPING_CLOCK names holds two 64-bit numbers of seconds, which are added to
// CLOCK_REALTIME and to CLOCK_BOOTTIME. Read through a mapping, since a confined process opens nothing. The kernel keeps nothing right here.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offsets;
static int (*real_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void) {
  real_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  const char *path = getenv("JUMPING_CLOCK");
  int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void *mapped = mmap(NULL, 2 * sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) offsets = mapped;
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  if (real_gettime == NULL) begin();
  int result = real_gettime(clock, now);
  if (result != 0 || offsets == NULL) return result;
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += offsets[0];
  if (clock == CLOCK_BOOTTIME) now->tv_sec += offsets[1];
  return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec exact;
  if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return -1;
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *result) {
  struct timespec exact;
  if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return -1;
  if (result != NULL) *result = exact.tv_sec;
  return exact.tv_sec;
}

int adjtimex(struct timex *state) {
  (void)state;
  return TIME_ERROR;
}
