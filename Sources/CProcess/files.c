// Which files a child sees: Landlock. Its numbers are the kernel's for every machine; the headers of Debian 12 know only the older ones.
#define _GNU_SOURCE
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __linux__

enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, VERSION = 1, PATH_BENEATH = 1 };

enum access {
  EXECUTE = 1 << 0,
  WRITE_FILE = 1 << 1,
  READ_FILE = 1 << 2,
  READ_DIR = 1 << 3,
  REMOVE_DIR = 1 << 4,
  REMOVE_FILE = 1 << 5,
  MAKE_DIR = 1 << 7,
  MAKE_REG = 1 << 8,
  MAKE_SOCK = 1 << 9,
  MAKE_SYM = 1 << 12,
  REFER = 1 << 13,
  TRUNCATE = 1 << 14,
  IOCTL_DEV = 1 << 15,

  READ = EXECUTE | READ_FILE | READ_DIR,
  DEVICE = READ_FILE | READ_DIR | WRITE_FILE | IOCTL_DEV,
  OWN = READ_FILE | READ_DIR | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK | TRUNCATE,
  // Its own as a program has them that nobody has confined.
  WRITABLE = OWN | MAKE_SYM | REFER,
  // What a rule for something that is no folder may say.
  FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV,
};

struct ruleset_attributes {
  uint64_t files, network, scoped;
};

struct path_beneath {
  uint64_t allowed;
  int32_t parent;
} __attribute__((packed));

struct rules {
  int descriptor;
  uint64_t known;
};

// What programs and libraries of the system read. Of /etc only what is no secret. A pattern finds nothing in a folder that may not be
// listed: in the root and in /etc by a child of a child. What a program needs to be loaded is named.
static const char *const system_paths[] = {
    "/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/nix/store", "/proc", "/sys", "/run/udev", "/run/systemd/resolve",
    "/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/alternatives", "/etc/fonts", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates*",
    "/etc/localtime", "/etc/timezone", "/etc/locale*", "/etc/nsswitch.conf", "/etc/hosts", "/etc/host.conf",
    "/etc/resolv.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/passwd", "/etc/group", "/etc/machine-id",
    "/etc/mime.types", "/etc/os-release", "/etc/debian_version", "/etc/udev", "/etc/libcamera", "/etc/libva.conf",
    "/etc/drirc", "/etc/glvnd", "/etc/vulkan", "/etc/OpenCL", "/etc/python3*", "/etc/lttng", NULL,
};

static const char *const system_devices[] = {
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", NULL,
};

static void allow_path(const struct rules *rules, const char *path, uint64_t access) {
  struct path_beneath rule = {.allowed = access & rules->known, .parent = open(path, O_PATH | O_CLOEXEC)};
  if (rule.parent < 0) return;
  struct stat found;
  if (fstat(rule.parent, &found) == 0) {
    if (!S_ISDIR(found.st_mode)) rule.allowed &= FILES;
    syscall(ADD_RULE, rules->descriptor, PATH_BENEATH, &rule, 0);
  }
  close(rule.parent);
}

static void allow(const struct rules *rules, const char *const *patterns, uint64_t access) {
  for (const char *const *pattern = patterns; pattern && *pattern; pattern++) {
    glob_t found;
    // One that is no pattern is taken as it is, whatever is in its name.
    if (!strpbrk(*pattern, "*?[")) {
      allow_path(rules, *pattern, access);
    } else if (glob(*pattern, 0, NULL, &found) == 0) {
      for (size_t index = 0; index < found.gl_pathc; index++) allow_path(rules, found.gl_pathv[index], access);
      globfree(&found);
    }
  }
}

static void allow_folder_of(const struct rules *rules, char *path) {
  char *end = strrchr(path, '/');
  if (!end || end == path) return;
  *end = 0;
  allow_path(rules, path, READ);
}

// Where this program and its libraries are, which need not be the system's: it starts itself and its neighbours.
static void allow_own_folders(const struct rules *rules) {
  char path[PATH_MAX + 128];
  ssize_t count = readlink("/proc/self/exe", path, sizeof path - 1);
  if (count > 0) {
    path[count] = 0;
    allow_folder_of(rules, path);
  }
  FILE *maps = fopen("/proc/self/maps", "re");
  while (maps && fgets(path, sizeof path, maps)) {
    char *file = strchr(path, '/');
    if (file && strstr(file, ".so") && strncmp(file, "/usr/", 5) != 0) allow_folder_of(rules, file);
  }
  if (maps) fclose(maps);
}

int process_landlock_version(void) {
  long version = syscall(CREATE_RULESET, NULL, 0, VERSION);
  return version < 0 ? -errno : (int)version;
}

int files_ruleset(const struct process_needs *needs) {
  long version = syscall(CREATE_RULESET, NULL, 0, VERSION);
  if (version < 0) return -errno;
  // By version: 13 rights, links between folders, truncation, devices' controls.
  struct ruleset_attributes attributes = {
      .files = (1u << 13) - 1,
  };
  if (version >= 2) attributes.files |= 1 << 13;
  if (version >= 3) attributes.files |= TRUNCATE;
  if (version >= 5) attributes.files |= IOCTL_DEV;
  // No signal and no abstract socket to who is not confined with it. A service manager's socket may be an abstract one.
  if (version >= 6) attributes.scoped = needs->permissions & PROCESS_DAEMON ? 2 : 1 | 2;
  size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  struct rules rules = {.known = attributes.files};
  rules.descriptor = (int)syscall(CREATE_RULESET, &attributes, size, 0);
  if (rules.descriptor < 0) return -errno;
  allow(&rules, system_paths, READ);
  allow(&rules, system_devices, DEVICE);
  // Names of devices, not the devices.
  allow_path(&rules, "/dev", READ_DIR);
  allow_own_folders(&rules);
  allow(&rules, needs->readable, READ);
  allow(&rules, needs->devices, DEVICE);
  if (needs->folder) allow_path(&rules, needs->folder, OWN);
  allow(&rules, needs->writable, WRITABLE);
  return rules.descriptor;
}

int files_restrict(int ruleset) { return syscall(RESTRICT_SELF, ruleset, 0) < 0 ? -errno : 0; }

#else
int process_landlock_version(void) { return -ENOSYS; }
int files_ruleset(const struct process_needs *needs) { return -ENOSYS; }
int files_restrict(int ruleset) { return -ENOSYS; }
#endif
