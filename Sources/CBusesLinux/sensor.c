// Files of the kernel's sensors, each read whole by one system call.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "CBusesLinux.h"

int tactus_sensor_read(const char *path, uint8_t *bytes, int size) {
  // Whatever else has such a name, a pipe that nobody writes into above all, keeps nobody waiting.
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return -errno;
  ssize_t count;
  do count = read(descriptor, bytes, (size_t)size);
  while (count < 0 && errno == EINTR);
  int result = count < 0 ? -errno : (int)count;
  close(descriptor);
  return result;
}
