#define _GNU_SOURCE
#include "CDaemon.h"

#include <errno.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

static int64_t limit(__rlimit_resource_t resource) {
  struct rlimit value;
  if (getrlimit(resource, &value) < 0) return 0;
  return value.rlim_cur == RLIM_INFINITY ? -1 : (int64_t)value.rlim_cur;
}

int64_t daemon_limit_rtprio(void) { return limit(RLIMIT_RTPRIO); }
int64_t daemon_limit_memlock(void) { return limit(RLIMIT_MEMLOCK); }

int daemon_has_capability(int capability) {
  FILE *status = fopen("/proc/self/status", "re");
  if (!status) return 0;
  char line[256];
  unsigned long long effective = 0;
  while (fgets(line, sizeof line, status))
    if (sscanf(line, "CapEff: %llx", &effective) == 1) break;
  fclose(status);
  return (int)(effective >> capability & 1);
}

uint64_t daemon_i2c_functions(int descriptor) {
  unsigned long functions = 0;
  return ioctl(descriptor, I2C_FUNCS, &functions) < 0 ? 0 : functions;
}

int daemon_set_fifo(int priority) {
  struct sched_param parameters = {.sched_priority = priority};
  return sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters) < 0 ? -errno : 0;
}

int daemon_lock_memory(void) {
  // Under a finite limit a later allocation would fail instead of a page being swapped: worse.
  if (daemon_limit_memlock() >= 0 && !daemon_has_capability(14 /* CAP_IPC_LOCK */)) return -EPERM;
  return mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) < 0 ? -errno : 0;
}

void daemon_kernel(char *release, size_t release_size, char *version, size_t version_size) {
  struct utsname name;
  if (uname(&name) < 0) memset(&name, 0, sizeof name);
  snprintf(release, release_size, "%s", name.release);
  snprintf(version, version_size, "%s", name.version);
}

int daemon_time_is_synchronized(void) {
  struct timex state = {.modes = 0};
  int result = adjtimex(&state);
  return result < 0 ? -errno : result != TIME_ERROR;
}
