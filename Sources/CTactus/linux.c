// What only Linux has: scheduling policies, affinity, timer slack, memory locks.
#define _GNU_SOURCE
#include "CTactus.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// struct sched_attr of <linux/sched/types.h>, version 0: glibc 2.36 has no wrapper for it.
struct attributes {
  uint32_t size;
  uint32_t policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period;
};

enum { RESET_ON_FORK = 0x01 };

static int set_attributes(struct attributes *attributes) {
  attributes->size = sizeof *attributes;
  return syscall(SYS_sched_setattr, 0, attributes, 0) == 0 ? 0 : -errno;
}

int32_t tactus_thread_run(void *(*body)(void *), void *context) {
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error) return -error;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  error = pthread_create(&thread, &attributes, body, context);
  pthread_attr_destroy(&attributes);
  return -error;
}

int32_t tactus_thread_save(struct tactus_thread_state *state) {
  struct attributes attributes = {.size = sizeof attributes};
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return -errno;
  memset(state, 0, sizeof *state);
  state->policy = (int32_t)attributes.policy;
  state->flags = attributes.flags;
  state->nice = attributes.nice;
  state->priority = (int32_t)attributes.priority;
  state->dl_runtime = attributes.runtime;
  state->dl_deadline = attributes.deadline;
  state->dl_period = attributes.period;
  if (sched_getaffinity(0, sizeof state->cpus, (cpu_set_t *)state->cpus) != 0) return -errno;
  int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
  state->timer_slack = slack > 0 ? (uint64_t)slack : 50000;
  prctl(PR_GET_NAME, state->name, 0, 0, 0);
  return 0;
}

int32_t tactus_thread_restore(const struct tactus_thread_state *state) {
  struct attributes attributes = {
      .policy = (uint32_t)state->policy,
      .flags = state->flags & RESET_ON_FORK,
      .nice = (int32_t)state->nice,
      .priority = (uint32_t)state->priority,
      .runtime = state->dl_runtime,
      .deadline = state->dl_deadline,
      .period = state->dl_period,
  };
  int result = set_attributes(&attributes);
  if (result == -EPERM) {  // only a privileged thread may clear reset-on-fork; the policy matters more
    attributes.flags = RESET_ON_FORK;
    result = set_attributes(&attributes);
  }
  if (sched_setaffinity(0, sizeof state->cpus, (const cpu_set_t *)state->cpus) != 0 && result == 0) result = -errno;
  prctl(PR_SET_TIMERSLACK, state->timer_slack, 0, 0, 0);
  prctl(PR_SET_NAME, state->name, 0, 0, 0);
  return result;
}

int32_t tactus_thread_set_fifo(int32_t priority) {
  struct attributes attributes = {.policy = SCHED_FIFO, .flags = RESET_ON_FORK, .priority = (uint32_t)priority};
  return set_attributes(&attributes);
}

int32_t tactus_thread_set_deadline(uint64_t runtime, uint64_t deadline, uint64_t period) {
  struct attributes attributes = {.policy = TACTUS_SCHED_DEADLINE,
                                  .flags = RESET_ON_FORK,
                                  .runtime = runtime,
                                  .deadline = deadline,
                                  .period = period};
  return set_attributes(&attributes);
}

int32_t tactus_thread_set_cpus(const uint64_t cpus[16]) {
  return sched_setaffinity(0, 16 * sizeof *cpus, (const cpu_set_t *)cpus) == 0 ? 0 : -errno;
}

int32_t tactus_thread_cpus(uint64_t cpus[16]) {
  memset(cpus, 0, 16 * sizeof *cpus);
  return sched_getaffinity(0, 16 * sizeof *cpus, (cpu_set_t *)cpus) == 0 ? 0 : -errno;
}

int32_t tactus_latency_hold(const char *path, int32_t microseconds, int32_t *effective) {
  int device = open(path, O_RDWR | O_CLOEXEC);
  if (device < 0 && errno == EACCES) device = open(path, O_WRONLY | O_CLOEXEC);
  if (device < 0) return -errno;
  if (write(device, &microseconds, sizeof microseconds) != sizeof microseconds) {
    int error = errno;
    close(device);
    return -error;
  }
  // The device shows what all who have it open ask for together.
  if (pread(device, effective, sizeof *effective, 0) != sizeof *effective) *effective = -1;
  return device;
}

int32_t tactus_read_file(const char *path, char *bytes, int32_t size) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -errno;
  ssize_t length = read(file, bytes, (size_t)size);
  int error = errno;
  close(file);
  return length < 0 ? -error : (int32_t)length;
}

int32_t tactus_thread_set_timer_slack(uint64_t nanoseconds) {
  return prctl(PR_SET_TIMERSLACK, nanoseconds, 0, 0, 0) == 0 ? 0 : -errno;
}

int32_t tactus_thread_set_name(const char *name) {
  char cut[16] = {0};
  strncpy(cut, name, sizeof cut - 1);
  return prctl(PR_SET_NAME, cut, 0, 0, 0) == 0 ? 0 : -errno;
}

__attribute__((noinline)) void tactus_thread_touch_stack(void) {
  volatile char stack[128 * 1024];
  for (size_t i = 0; i < sizeof stack; i += 4096) stack[i] = 0;
}

// CAP_IPC_LOCK, by the system call: libcap is a dependency that one bit is not worth.
static int may_lock_without_limit(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
  return syscall(SYS_capget, &header, data) == 0 && (data[0].effective & (1u << CAP_IPC_LOCK)) != 0;
}

int32_t tactus_memory_lock(void) {
  // Under a limit the call may succeed and every later allocation of the process fail.
  if (tactus_limit_memlock() >= 0 && !may_lock_without_limit()) return -EPERM;
  return mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0 ? 0 : -errno;
}

int32_t tactus_memory_unlock(void) { return munlockall() == 0 ? 0 : -errno; }

static int64_t soft_limit(int which) {
  struct rlimit limit;
  if (getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return -1;
  return (int64_t)limit.rlim_cur;
}

int64_t tactus_limit_rttime(void) { return soft_limit(RLIMIT_RTTIME); }
int64_t tactus_limit_rtprio(void) { return soft_limit(RLIMIT_RTPRIO); }
int64_t tactus_limit_memlock(void) { return soft_limit(RLIMIT_MEMLOCK); }

static int64_t number_in(const char *path) {
  FILE *file = fopen(path, "re");
  if (!file) return -1;
  long long value = -1;
  if (fscanf(file, "%lld", &value) != 1) value = -1;
  fclose(file);
  return value;
}

int64_t tactus_rt_runtime_us(void) { return number_in("/proc/sys/kernel/sched_rt_runtime_us"); }
int64_t tactus_rt_period_us(void) { return number_in("/proc/sys/kernel/sched_rt_period_us"); }

// Real-time priority of a thread from its stat file: field 40, counted behind the name's closing bracket.
static int stat_priority(const char *path, char name[16]) {
  char text[1024];
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = 0;
  char *open = strchr(text, '('), *close = strrchr(text, ')');
  if (!open || !close) return 0;
  size_t name_length = (size_t)(close - open - 1);
  if (name_length > 15) name_length = 15;
  memcpy(name, open + 1, name_length);
  name[name_length] = 0;
  char *field = close + 1;
  for (int number = 2; number < 39 && field; number++) field = strchr(field + 1, ' ');
  return field ? atoi(field) : 0;
}

int32_t tactus_rival_threads(int32_t priority, char name[16], int32_t *pid) {
  DIR *processes = opendir("/proc");
  if (!processes) return 0;
  int32_t rivals = 0;
  pid_t self = getpid();
  for (struct dirent *process; (process = readdir(processes));) {
    if (!isdigit((unsigned char)process->d_name[0]) || atoi(process->d_name) == self) continue;
    char path[600];
    snprintf(path, sizeof path, "/proc/%s/task", process->d_name);
    DIR *threads = opendir(path);
    if (!threads) continue;
    for (struct dirent *thread; (thread = readdir(threads));) {
      if (!isdigit((unsigned char)thread->d_name[0])) continue;
      char stat[900], thread_name[16];
      snprintf(stat, sizeof stat, "%s/%s/stat", path, thread->d_name);
      // The kernel's own migration and stop threads are above everybody and run for microseconds.
      if (stat_priority(stat, thread_name) <= priority || strncmp(thread_name, "migration/", 10) == 0) continue;
      if (rivals++ == 0) {
        memcpy(name, thread_name, 16);
        *pid = atoi(process->d_name);
      }
    }
    closedir(threads);
  }
  closedir(processes);
  return rivals;
}
