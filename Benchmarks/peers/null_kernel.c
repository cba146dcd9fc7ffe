// LD_PRELOAD library: a kernel whose sleeps cost nothing. clock_nanosleep returns at once and moves the clock to the
// instant asked for; clock_gettime(CLOCK_MONOTONIC) costs what it costs and says that instant. What a release still
// takes beyond one clock reading is all its own.
//
// For programs in which one thread sleeps.
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t now = 1000000000000;
static int (*real_clock_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void find(void) {
  real_clock_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  if (real_clock_gettime == NULL) abort();
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *remaining) {
  if (clock != CLOCK_MONOTONIC || !(flags & TIMER_ABSTIME)) {
    return (int)syscall(SYS_clock_nanosleep, clock, flags, until, remaining);
  }
  int64_t instant = (int64_t)until->tv_sec * 1000000000 + until->tv_nsec;
  if (instant > now) now = instant;
  return 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = real_clock_gettime != NULL ? real_clock_gettime(clock, time)
                                          : (int)syscall(SYS_clock_gettime, clock, time);
  if (result != 0 || clock != CLOCK_MONOTONIC) return result;
  time->tv_sec = now / 1000000000;
  time->tv_nsec = now % 1000000000;
  return 0;
}
