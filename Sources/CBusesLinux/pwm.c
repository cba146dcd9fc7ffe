#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "CBusesLinux.h"
#include "descriptor.h"

int tactus_pwm_open(const char *path) {
  int descriptor = above_standard_streams(open_device(path, O_RDWR));
  return descriptor < 0 ? -errno : descriptor;
}

int tactus_pwm_claim(int descriptor) { return claim_place(descriptor, 0); }

int tactus_pwm_set(int descriptor, int64_t value) {
  char text[24];
  size_t start = sizeof text;
  text[--start] = '\n';
  uint64_t rest = value < 0 ? 0 : (uint64_t)value;
  do {
    text[--start] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest > 0);
  // An attribute is written whole, from its beginning.
  long written = pwrite(descriptor, text + start, sizeof text - start, 0);
  return written < 0 ? -errno : written == (long)(sizeof text - start) ? 0 : -EIO;
}

int tactus_pwm_get(int descriptor, int64_t *value) {
  char text[32];
  long count = pread(descriptor, text, sizeof text - 1, 0);
  if (count < 0) return -errno;
  text[count] = 0;
  char *end;
  *value = strtoll(text, &end, 10);
  return end == text ? -EIO : 0;
}

int tactus_pwm_store(const char *path, const char *text) {
  int descriptor = open_device(path, O_WRONLY);
  if (descriptor < 0) return -errno;
  int result = write(descriptor, text, strlen(text)) < 0 ? -errno : 0;
  close(descriptor);
  return result;
}
