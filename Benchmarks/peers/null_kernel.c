// LD_PRELOAD library: a kernel that costs nothing. clock_nanosleep returns at once and moves the clock to the instant
// asked for; clock_gettime(CLOCK_MONOTONIC) reads that clock. What a release still costs is all its own.
//
// One thread at a time may sleep; the rest of the process sees the same clock.
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t now = 1000000000000;

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *remaining) {
  if (clock != CLOCK_MONOTONIC || !(flags & TIMER_ABSTIME)) {
    return (int)syscall(SYS_clock_nanosleep, clock, flags, until, remaining);
  }
  int64_t instant = (int64_t)until->tv_sec * 1000000000 + until->tv_nsec;
  if (instant > now) now = instant;
  return 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  if (clock != CLOCK_MONOTONIC) return (int)syscall(SYS_clock_gettime, clock, time);
  time->tv_sec = now / 1000000000;
  time->tv_nsec = now % 1000000000;
  return 0;
}
