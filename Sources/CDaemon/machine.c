#define _GNU_SOURCE
#include "CDaemon.h"

#include <errno.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/timex.h>
#include <sys/utsname.h>

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
