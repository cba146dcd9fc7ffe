// LD_PRELOAD: the FIFO that TACTUS_TEST_GAMEPAD names answers as an input device of Linux does, for machines without /dev/uinput. What is written
// to it are the device's events. Its axes go from 0 to 255, as those of a DualShock, and stand at 128.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/input.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int is_ours(int descriptor) {
  const char *path = getenv("TACTUS_TEST_GAMEPAD");
  struct stat its, ours;
  return path && !fstat(descriptor, &its) && !stat(path, &ours) && its.st_ino == ours.st_ino && its.st_dev == ours.st_dev;
}

static void set(unsigned char *bits, unsigned length, unsigned bit) {
  if (bit / 8 < length) bits[bit / 8] |= 1 << (bit % 8);
}

int ioctl(int descriptor, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  void *argument = va_arg(list, void *);
  va_end(list);
  if (!is_ours(descriptor) || _IOC_TYPE(request) != 'E') {
    static int (*real)(int, unsigned long, ...);
    if (!real) real = dlsym(RTLD_NEXT, "ioctl");
    return real(descriptor, request, argument);
  }
  unsigned number = _IOC_NR(request), length = _IOC_SIZE(request);
  memset(argument, 0, length);
  if (number == _IOC_NR(EVIOCGNAME(0))) {
    strncpy(argument, "Test \x1bPad", length - 1);
  } else if (number == _IOC_NR(EVIOCGBIT(EV_KEY, 0))) {
    if (!getenv("TACTUS_TEST_KEYBOARD")) set(argument, length, BTN_SOUTH);
    set(argument, length, KEY_A);
  } else if (number == _IOC_NR(EVIOCGBIT(EV_ABS, 0))) {
    set(argument, length, ABS_X);
    set(argument, length, ABS_Y);
  } else if (number == _IOC_NR(EVIOCGABS(ABS_X)) || number == _IOC_NR(EVIOCGABS(ABS_Y))) {
    struct input_absinfo *axis = argument;
    axis->value = 128;
    axis->maximum = 255;
    axis->flat = 15;
  } else if (number != _IOC_NR(EVIOCGKEY(0))) {
    errno = EINVAL;
    return -1;
  }
  return 0;
}
