#define _GNU_SOURCE
#include "CTactus.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

static struct timespec timespec_of(int64_t instant) {
  return (struct timespec){.tv_sec = instant / 1000000000, .tv_nsec = instant % 1000000000};
}

int64_t tactus_monotonic_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t tactus_realtime_lead(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - tactus_monotonic_now();
}

int32_t tactus_clock_is_synchronised(void) {
  struct timex state = {.modes = 0};
  int result = adjtimex(&state);
  if (result >= 0) return result != TIME_ERROR;
  int refusal = errno;
  // A service that is kept from setting the clock (ProtectClock= of systemd) may not ask either; systemd's own NTP client leaves this file.
  return access("/run/systemd/timesync/synchronized", F_OK) == 0 ? 1 : -refusal;
}

int64_t tactus_thread_processor_time(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

void tactus_sleep_until(int64_t instant) {
  struct timespec until = timespec_of(instant);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0) == EINTR) {
  }
}

int32_t tactus_timer_create(void) {
  int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  return timer < 0 ? -errno : timer;
}

void tactus_timer_arm(int32_t timer, int64_t instant) {
  struct itimerspec spec = {0};
  // An all-zero time disarms; an instant in the past fires at once, so 1 ns stands for "the beginning".
  if (instant != INT64_MAX) spec.it_value = timespec_of(instant > 0 ? instant : 1);
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &spec, 0);
}

int32_t tactus_wait_any(struct tactus_wait *waits, int32_t count) {
  struct pollfd polls[64];
  if (count > 64) count = 64;
  for (int32_t i = 0; i < count; i++) polls[i] = (struct pollfd){.fd = waits[i].descriptor, .events = POLLIN};
  int ready = poll(polls, (nfds_t)count, -1);
  for (int32_t i = 0; i < count; i++) waits[i].ready = ready > 0 && polls[i].revents != 0;
  return ready > 0 ? ready : 0;
}

int32_t tactus_eventfd_create(void) {
  int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return descriptor < 0 ? -errno : descriptor;
}

void tactus_eventfd_signal(int32_t eventfd) { eventfd_write(eventfd, 1); }

void tactus_eventfd_clear(int32_t eventfd) {
  eventfd_t value;
  eventfd_read(eventfd, &value);
}

int32_t tactus_eventfd_wait(int32_t eventfd, int32_t timeout_ms) {
  struct pollfd waiting = {.fd = eventfd, .events = POLLIN};
  int ready;
  do ready = poll(&waiting, 1, timeout_ms);
  while (ready < 0 && errno == EINTR);
  if (ready > 0) tactus_eventfd_clear(eventfd);
  return ready > 0;
}

void tactus_close(int32_t descriptor) {
  if (descriptor >= 0) close(descriptor);
}

extern void __rtsan_realtime_enter(void) __attribute__((weak));
extern void __rtsan_realtime_exit(void) __attribute__((weak));

void tactus_tick_begins(void) {
  if (__rtsan_realtime_enter) __rtsan_realtime_enter();
}

void tactus_tick_ends(void) {
  if (__rtsan_realtime_exit) __rtsan_realtime_exit();
}

int32_t tactus_sanitizer_is_linked(void) { return __rtsan_realtime_enter != 0; }
