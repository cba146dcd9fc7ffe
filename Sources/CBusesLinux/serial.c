#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "CBusesLinux.h"
#include "descriptor.h"

static const struct {
  int baud;
  speed_t speed;
} rates[] = {
    {1200, B1200},       {2400, B2400},       {4800, B4800},       {9600, B9600},       {19200, B19200},
    {38400, B38400},     {57600, B57600},     {115200, B115200},   {230400, B230400},   {460800, B460800},
    {500000, B500000},   {576000, B576000},   {921600, B921600},   {1000000, B1000000}, {1152000, B1152000},
    {1500000, B1500000}, {2000000, B2000000}, {2500000, B2500000}, {3000000, B3000000}, {3500000, B3500000},
    {4000000, B4000000},
};
enum { rate_count = sizeof rates / sizeof rates[0] };

int tactus_serial_open(const char *path) {
  int descriptor = above_standard_streams(open_device(path, O_RDWR));
  return descriptor < 0 ? -errno : descriptor;
}

int tactus_serial_rate(int index) { return index >= 0 && index < rate_count ? rates[index].baud : 0; }

static int rate_index(int baud) {
  for (int index = 0; index < rate_count; index++) {
    if (rates[index].baud == baud) return index;
  }
  return -1;
}

int tactus_serial_is_console(const char *path) {
  char real[PATH_MAX];
  char active[256];
  if (!realpath(path, real)) return 0;
  const char *name = strrchr(real, '/') + 1;
  int descriptor = open("/sys/class/tty/console/active", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  ssize_t count = read(descriptor, active, sizeof active - 1);
  close(descriptor);
  if (count < 0) return 0;
  active[count] = 0;
  char *rest;
  for (char *word = strtok_r(active, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
    if (strcmp(word, name) == 0) return 1;
  }
  return 0;
}

static void make_raw(struct termios *settings) {
  cfmakeraw(settings);
  settings->c_cflag |= CLOCAL | CREAD;
  settings->c_cflag &= ~(tcflag_t)(CSTOPB | CRTSCTS);
  // With VMIN 1 a nonblocking read of an empty line is EAGAIN, so that 0 means the device is gone.
  settings->c_cc[VMIN] = 1;
  settings->c_cc[VTIME] = 0;
}

int tactus_serial_configure(int descriptor, int baud) {
  int index = rate_index(baud);
  if (index < 0) return -EINVAL;
  struct termios settings;
  if (tcgetattr(descriptor, &settings) < 0) return -errno;
  make_raw(&settings);
  cfsetspeed(&settings, rates[index].speed);
  if (tcsetattr(descriptor, TCSANOW, &settings) < 0) return -errno;
  // tcsetattr succeeds when any one of the changes did.
  struct termios effective;
  if (tcgetattr(descriptor, &effective) < 0) return -errno;
  int same = cfgetospeed(&effective) == rates[index].speed && (effective.c_cflag & CSIZE) == CS8 &&
             (effective.c_lflag & (ICANON | ECHO)) == 0;
  if (!same) return -EINVAL;
  tcflush(descriptor, TCIOFLUSH);
  return 0;
}

int tactus_serial_claim(int descriptor) {
  // TIOCEXCL refuses later openers, except root; the lock is what other well-behaved programs look at.
  if (flock(descriptor, LOCK_EX | LOCK_NB) < 0) return errno == EWOULDBLOCK ? -EBUSY : -errno;
  return ioctl(descriptor, TIOCEXCL) < 0 ? -errno : 0;
}

void tactus_serial_release(int descriptor) { ioctl(descriptor, TIOCNXCL); }

int tactus_serial_detach(int descriptor) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) return -errno;
  tactus_serial_replace(descriptor, ends[0]);
  return ends[1];
}

void tactus_serial_replace(int descriptor, int by) {
  dup3(by, descriptor, O_CLOEXEC);
  close(by);
}

int tactus_pty_open(int *master, int *slave, char *path, size_t size) {
  struct termios settings;
  memset(&settings, 0, sizeof settings);
  make_raw(&settings);
  cfsetspeed(&settings, B38400);
  if (openpty(master, slave, NULL, &settings, NULL) < 0) return -errno;
  *master = above_standard_streams(*master);
  *slave = above_standard_streams(*slave);
  int error = *master < 0 || *slave < 0 ? EMFILE : ptsname_r(*master, path, size);
  for (int index = 0; error == 0 && index < 2; index++) {
    int descriptor = index == 0 ? *master : *slave;
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0 ||
        fcntl(descriptor, F_SETFD, FD_CLOEXEC) < 0) {
      error = errno;
    }
  }
  if (error != 0) {
    close(*master);
    close(*slave);
  }
  return -error;
}

long tactus_serial_write(int descriptor, const void *bytes, size_t count) {
  ssize_t result;
  do {
    result = write(descriptor, bytes, count);
  } while (result < 0 && errno == EINTR);
  if (result >= 0) return result;
  return errno == EAGAIN ? 0 : -errno;
}

long tactus_serial_read(int descriptor, void *bytes, size_t count) {
  ssize_t result;
  do {
    result = read(descriptor, bytes, count);
  } while (result < 0 && errno == EINTR);
  if (result > 0) return result;
  if (result == 0) return -EIO;
  return errno == EAGAIN ? 0 : -errno;
}


const char *tactus_error_text(int error) {
  const char *text = strerrordesc_np(error);
  return text ? text : "unknown error";
}
