#define _GNU_SOURCE
#include "CBench.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t read_clock(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t bench_now(void) { return read_clock(CLOCK_MONOTONIC); }
int64_t bench_processor_time(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

void bench_pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) abort();
}

struct start {
  int cpu;
  void (*body)(void *);
  void *context;
};

static void *run(void *argument) {
  struct start start = *(struct start *)argument;
  free(argument);
  bench_pin(start.cpu);
  start.body(start.context);
  return NULL;
}

uint64_t bench_thread(int cpu, void (*body)(void *), void *context) {
  struct start *start = malloc(sizeof *start);
  *start = (struct start){cpu, body, context};
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, start) != 0) abort();
  return (uint64_t)thread;
}

void bench_join(uint64_t thread) { pthread_join((pthread_t)thread, NULL); }

static long (*allocations)(void);
static long (*locks)(void);

__attribute__((constructor)) static void find_counters(void) {
  allocations = (long (*)(void))dlsym(RTLD_DEFAULT, "counted_allocations");
  locks = (long (*)(void))dlsym(RTLD_DEFAULT, "counted_locks");
}

long bench_counted_allocations(void) { return allocations == NULL ? -1 : allocations(); }
long bench_counted_locks(void) { return locks == NULL ? -1 : locks(); }

ssize_t bench_write(int descriptor, const void *bytes, size_t count) { return write(descriptor, bytes, count); }

void bench_send_now(int descriptor, const void *bytes, size_t count) {
  send(descriptor, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void bench_pause(int milliseconds) {
  struct timespec pause = {.tv_nsec = milliseconds * 1000000L};
  syscall(SYS_nanosleep, &pause, NULL);
}

static void termination(sigset_t *set) {
  sigemptyset(set);
  sigaddset(set, SIGTERM);
  sigaddset(set, SIGINT);
}

void bench_block_termination(void) {
  sigset_t set;
  termination(&set);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
}

void bench_await_termination(void) {
  sigset_t set;
  int number;
  termination(&set);
  sigwait(&set, &number);
}
