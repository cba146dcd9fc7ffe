// What every peer needs: the clock, a priority, a processor, a file of samples. Compiled with -D_GNU_SOURCE.
#pragma once
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static inline int64_t monotonic_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void sleep_until(int64_t instant) {
  struct timespec until = {.tv_sec = instant / 1000000000, .tv_nsec = instant % 1000000000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static inline void die(const char *what) {
  perror(what);
  exit(1);
}

// Negative: not asked for.
static inline void pin_to(int cpu) {
  if (cpu < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) die("sched_setaffinity");
}

// 0: not asked for.
static inline void run_at_fifo(int priority) {
  if (priority <= 0) return;
  struct sched_param parameter = {.sched_priority = priority};
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) die("mlockall");
  if (sched_setscheduler(0, SCHED_FIFO, &parameter) != 0) die("sched_setscheduler");
}

// Raw 64-bit integers in the machine's order, nanoseconds.
static inline void write_samples(const char *path, const int64_t *samples, size_t count) {
  FILE *file = fopen(path, "wb");
  if (file == NULL || fwrite(samples, sizeof *samples, count, file) != count || fclose(file) != 0) die(path);
}
