#define _GNU_SOURCE
#include "CTactusGuard.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/watchdog.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

// Known to the kernel before it is opened, since to open a watchdog is to start it: /dev/watchdog is number 130 of the miscellaneous
// devices, the others are of the class "watchdog".
int tactus_watchdog_is(const char *path) {
  struct stat found;
  if (stat(path, &found) < 0) return -errno;
  if (!S_ISCHR(found.st_mode)) return 0;
  if (major(found.st_rdev) == 10 && minor(found.st_rdev) == 130) return 1;
  char link[64], target[256];
  snprintf(link, sizeof link, "/sys/dev/char/%u:%u/subsystem", major(found.st_rdev), minor(found.st_rdev));
  ssize_t length = readlink(link, target, sizeof target - 1);
  if (length < 0) return 0;
  target[length] = 0;
  const char *name = strrchr(target, '/');
  return strcmp(name ? name + 1 : target, "watchdog") == 0;
}

int tactus_watchdog_is_unstoppable(const char *path) {
  struct stat found;
  if (stat(path, &found) < 0 || !S_ISCHR(found.st_mode)) return 0;
  char file[64], text = '0';
  if (major(found.st_rdev) == 10) snprintf(file, sizeof file, "/sys/class/watchdog/watchdog0/nowayout");
  else snprintf(file, sizeof file, "/sys/dev/char/%u:%u/nowayout", major(found.st_rdev), minor(found.st_rdev));
  int descriptor = open(file, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  if (read(descriptor, &text, 1) != 1) text = '0';
  close(descriptor);
  return text == '1';
}

int tactus_watchdog_open(const char *path, int timeout_s, struct tactus_watchdog *opened) {
  int is_one = tactus_watchdog_is(path);
  if (is_one < 0) return is_one;
  if (!is_one) return -ENOTTY;
  int descriptor = open(path, O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return -errno;
  struct watchdog_info about = {0};
  if (ioctl(descriptor, WDIOC_GETSUPPORT, &about) < 0) {
    int error = errno;
    // Whatever it is, it was not to be started.
    ssize_t ignored = write(descriptor, "V", 1);
    (void)ignored;
    close(descriptor);
    return -error;
  }
  // A driver that refuses the time-out keeps its own, which is what counts.
  int wanted = timeout_s, effective = 0;
  ioctl(descriptor, WDIOC_SETTIMEOUT, &wanted);
  if (ioctl(descriptor, WDIOC_GETTIMEOUT, &effective) < 0 || effective <= 0) effective = wanted > 0 ? wanted : timeout_s;
  opened->timeout_s = effective;
  opened->can_be_disarmed = (about.options & WDIOF_MAGICCLOSE) != 0 && !tactus_watchdog_is_unstoppable(path);
  return descriptor;
}

int tactus_watchdog_feed(int descriptor) { return ioctl(descriptor, WDIOC_KEEPALIVE, 0) < 0 ? -errno : 0; }

int tactus_watchdog_disarm(int descriptor) {
  int result = write(descriptor, "V", 1) == 1 ? 0 : -errno;
  close(descriptor);
  return result;
}
