// The memory in which a guard counts its safe-state writes for the loops of the program that it watches.
#define _GNU_SOURCE
#include "CTactusGuard.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int tactus_guard_page_create(size_t size) {
  int made = memfd_create("tactus-guard", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (made < 0) return -errno;
  int file = fcntl(made, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int error = errno;
  close(made);
  if (file < 0) return -error;
  // Of fixed size: a page that is cut off under a mapping ends whoever looks at it.
  if (ftruncate(file, (off_t)size) < 0 || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
    error = errno;
    close(file);
    return -error;
  }
  return file;
}

void *tactus_guard_page_map(int file, size_t size) {
  // Not of another size than this: see above.
  if (lseek(file, 0, SEEK_END) != (off_t)size) return NULL;
  void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return page == MAP_FAILED ? NULL : page;
}

void tactus_guard_page_unmap(void *page, size_t size) { munmap(page, size); }
