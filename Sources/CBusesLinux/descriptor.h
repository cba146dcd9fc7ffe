#pragma once
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/// open(2), and where that fails the opener of `tactus_set_device_opener`.
int open_device(const char *path, int flags);

/// The descriptor, or a copy of it above 2 when it has the number of a standard stream, which the program that embeds us was started
/// without: what the program prints must not go to a device. −1 with errno on failure.
static inline int above_standard_streams(int descriptor) {
  if (descriptor < 0 || descriptor > 2) return descriptor;
  int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  int error = errno;
  close(descriptor);
  errno = error;
  return moved;
}

/// Takes `place` of an open file for this descriptor alone, as long as it is open: a lock of one byte, which belongs to the open file and
/// binds whoever asks for it. −EBUSY when another has it. What cannot be locked is taken by nobody.
static inline int claim_place(int descriptor, off_t place) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = place, .l_len = 1};
  if (fcntl(descriptor, F_OFD_SETLK, &lock) == 0) return 0;
  return errno == EAGAIN || errno == EACCES ? -EBUSY : 0;
}
