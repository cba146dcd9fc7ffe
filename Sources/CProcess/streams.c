// Standard input, output and error, open before anything else of the program: a device that got number 2 would be sent our log.
#define _GNU_SOURCE
#include "CProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#ifndef O_PATH
#define O_PATH 0
#endif

static void open_standard_streams(void) {
  int error = errno;
  for (int descriptor = 0; descriptor < 3; descriptor++) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number, which is this one. Without /dev/null a path, which cannot be read or written, keeps it taken.
    if (open("/dev/null", O_RDWR) < 0) open("/", O_PATH | O_DIRECTORY);
  }
  errno = error;
}

#ifdef __linux__
// Before the initialisers of every library: the loader runs this list first. A shared library cannot have one.
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = open_standard_streams;
#else
__attribute__((constructor(101))) static void first(void) { open_standard_streams(); }
#endif
