// The change of a program's account that is for good, as a service manager makes it before it starts a program.
#define _GNU_SOURCE
#include "CProcess.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// Those that a daemon needs to lift its limits and to give up the rest, and those that it may have to keep. None that opens files.
static const int kept[] = {CAP_SETPCAP, CAP_NET_BIND_SERVICE, CAP_IPC_LOCK, CAP_SYS_NICE, CAP_SYS_RESOURCE};

static int keep_some(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct had[_LINUX_CAPABILITY_U32S_3], kept_now[_LINUX_CAPABILITY_U32S_3] = {0};
  if (syscall(SYS_capget, &header, had) < 0) return -errno;
  for (size_t index = 0; index < sizeof kept / sizeof *kept; index++) {
    uint32_t bit = UINT32_C(1) << kept[index] & had[0].permitted;
    kept_now[0].permitted |= bit;
    kept_now[0].effective |= bit;
  }
  return syscall(SYS_capset, &header, kept_now) < 0 ? -errno : 0;
}

int process_become(const char *name) {
  errno = 0;
  const struct passwd *entry = getpwnam(name);
  if (!entry) return errno ? -errno : -ENOENT;
  uid_t user = entry->pw_uid;
  gid_t group = entry->pw_gid;
  if (initgroups(name, group) < 0 || setresgid(group, group, group) < 0) return -errno;
  if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setresuid(user, user, user) < 0) return -errno;
  prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
  return keep_some();
}
