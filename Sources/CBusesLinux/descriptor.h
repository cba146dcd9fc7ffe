#pragma once
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/// Calls open(2), and if that fails the opener of `tactus_set_device_opener`. Never waits: neither a named pipe, which is refused with
/// ENOTTY, nor a terminal without a carrier keeps it. Returns a descriptor, which is closed on exec, or −1 with errno.
int open_device(const char *path, int flags);

/// Returns the descriptor, or a copy of it above 2 if it has the number of a standard stream, which happens if the embedding
/// program was started without one: output of the program must not go to a device. Returns −1 with errno on failure.
static inline int above_standard_streams(int descriptor) {
  if (descriptor < 0 || descriptor > 2) return descriptor;
  int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  int error = errno;
  close(descriptor);
  errno = error;
  return moved;
}

/// Claims `place` of an open file for this descriptor, as long as it is open. The claim is a lock of one byte, which belongs to the
/// open file and binds only those that claim as well. Returns −EBUSY if another descriptor holds it. A file that cannot be locked
/// counts as claimed successfully.
static inline int claim_place(int descriptor, off_t place) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = place, .l_len = 1};
  if (fcntl(descriptor, F_OFD_SETLK, &lock) == 0) return 0;
  return errno == EAGAIN || errno == EACCES ? -EBUSY : 0;
}
