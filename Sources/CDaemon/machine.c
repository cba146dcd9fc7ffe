#define _GNU_SOURCE
#include "CDaemon.h"

#include <link.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

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

static int release_code(struct dl_phdr_info *object, size_t size, void *context) {
  (void)size, (void)context;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  // The kernel's own pages have no file to come back from.
  if (object->dlpi_addr == (ElfW(Addr))getauxval(AT_SYSINFO_EHDR)) return 0;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    // What a writable segment holds is in no file.
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) != 0) continue;
    uintptr_t begin = (uintptr_t)(object->dlpi_addr + segment->p_vaddr);
    uintptr_t end = (begin + segment->p_memsz) & ~(page - 1);
    begin &= ~(page - 1);
    if (end > begin) madvise((void *)begin, end - begin, MADV_DONTNEED);
  }
  return 0;
}

void daemon_release_code(void) { dl_iterate_phdr(release_code, NULL); }
