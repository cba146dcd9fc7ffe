#define _GNU_SOURCE
#include "confine.h"

#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The omitted restrictions as text: `part (reason), …`.
struct report {
  char text[256];
  size_t length;
};

static void note(struct report *report, const char *part, int error) {
  if (error >= 0) return;
  int written = snprintf(
      report->text + report->length, sizeof report->text - report->length, "%s%s (%s)", report->length ? ", " : "", part,
      strerror(-error));
  if (written > 0) report->length += (size_t)written;
  if (report->length >= sizeof report->text) report->length = sizeof report->text - 1;
}

static int checked(long result) { return result < 0 ? -errno : 0; }

static void limit(int resource, rlim_t most) {
  struct rlimit now;
  if (getrlimit(resource, &now) < 0) return;
  if (now.rlim_max > most) now.rlim_max = most;
  if (now.rlim_cur > now.rlim_max) now.rlim_cur = now.rlim_max;
  setrlimit(resource, &now);
}

// What /proc/self/statm calls data, in bytes; 0 if that is not known.
static uint64_t private_memory(void) {
  unsigned long long data = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  if (!file) return 0;
  if (fscanf(file, "%*u %*u %*u %*u %*u %llu", &data) != 1) data = 0;
  fclose(file);
  return data * (uint64_t)sysconf(_SC_PAGESIZE);
}

// A sanitizer's shadow memory counts, too, and is larger than any limit: such a build has none.
// Only what holds now, and not how far it may be raised: a detector may need more than the video process that starts it.
static void limit_memory(uint64_t most) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  uint64_t half = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 2 : most, least = UINT64_C(256) << 20;
  if (half < least) half = least;
  if (most > half) most = half;
  if (private_memory() > most) return;
  struct rlimit now;
  if (getrlimit(RLIMIT_DATA, &now) < 0) return;
  now.rlim_cur = now.rlim_max < most ? now.rlim_max : most;
  setrlimit(RLIMIT_DATA, &now);
}

static void limit_stacks(size_t bytes) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  if (pthread_attr_setstacksize(&attributes, bytes) == 0) pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

// Real-time threads and locked memory within limits: no capability is needed for them then. SCHED_DEADLINE knows no limit.
static void lift_limits(void) {
  static const int lifted[] = {RLIMIT_MEMLOCK, RLIMIT_RTPRIO, RLIMIT_RTTIME};
  struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
  for (size_t index = 0; index < sizeof lifted / sizeof *lifted; index++) {
    if (setrlimit(lifted[index], &all) < 0) continue;
  }
}

static void set_limits(const struct process_needs *needs) {
  if (needs->permissions & (PROCESS_DAEMON | PROCESS_ACCOUNTS)) return lift_limits();
  // A core would hold pictures and passwords.
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, needs->descriptors);
  if (needs->memory) limit_memory(needs->memory);
  if (needs->stack) limit_stacks(needs->stack);
  if (needs->permissions & PROCESS_LOCKED_MEMORY) {
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    // Where it may not, it locks what its limit allows.
    if (setrlimit(RLIMIT_MEMLOCK, &all) < 0) return;
  } else {
    // Neither real time nor locked memory: those are the control loops'.
    limit(RLIMIT_RTPRIO, 0);
    limit(RLIMIT_MEMLOCK, 64 << 10);
  }
}

static int account(const char *const *accounts, uid_t *user, gid_t *group) {
  for (const char *const *name = accounts; name && *name; name++) {
    const struct passwd *entry = getpwnam(*name);
    if (!entry || entry->pw_uid == 0) continue;
    *user = entry->pw_uid;
    *group = entry->pw_gid;
    return 0;
  }
  return -1;
}

static void make_folder(const char *folder, uid_t user, gid_t group, int is_root) {
  // Above it, too: a new user has no folder for caches.
  char path[4096];
  for (const char *end = strchr(folder + 1, '/'); end && (size_t)(end - folder) < sizeof path; end = strchr(end + 1, '/')) {
    memcpy(path, folder, (size_t)(end - folder));
    path[end - folder] = 0;
    mkdir(path, 0700);
  }
  if (mkdir(folder, 0700) < 0 && errno != EEXIST) return;
  struct stat found;
  // Never what a link leads to.
  if (is_root && lstat(folder, &found) == 0 && S_ISDIR(found.st_mode) && lchown(folder, user, group) < 0) return;
}

static int become(uid_t user, gid_t group, const char *const *groups) {
  gid_t numbers[16];
  size_t count = 0;
  for (const char *const *name = groups; name && *name && count < 16; name++) {
    const struct group *entry = getgrnam(*name);
    if (entry) numbers[count++] = entry->gr_gid;
  }
  if (setgroups(count, numbers) < 0) return -errno;
  if (setresgid(group, group, group) < 0) return -errno;
  return checked(setresuid(user, user, user));
}

int process_is_root(void) { return geteuid() == 0; }

static void drop_capabilities(const struct process_needs *needs) {
  // What a program that is started could have: without CAP_SETPCAP they stay, and no_new_privs keeps them from being gained.
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++) {
    if (capability < 64 && (needs->capabilities >> capability & 1)) continue;
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0) break;
  }
  // A spawner's children start with what it has.
  if (needs->permissions & PROCESS_ACCOUNTS) return;
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  prctl(
      PR_SET_SECUREBITS,
      SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED, 0, 0, 0);
}

static int keep_capabilities(uint64_t kept) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0}, had[_LINUX_CAPABILITY_U32S_3];
  if (syscall(SYS_capget, &header, had) == 0) {
    // A service manager that has left none may also refuse the call.
    if (memcmp(had, none, sizeof none) == 0) return 0;
    for (int half = 0; half < _LINUX_CAPABILITY_U32S_3; half++) {
      uint32_t mask = (uint32_t)(kept >> (32 * half));
      none[half].permitted = had[half].permitted & mask;
      none[half].effective = had[half].effective & mask;
      none[half].inheritable = had[half].inheritable & mask;
    }
  }
  return checked(syscall(SYS_capset, &header, none));
}

const char *process_confine(const struct process_needs *needs) {
  static struct report report;
  report.length = 0;
  report.text[0] = 0;
  uid_t user = geteuid();
  gid_t group = getegid();
  int was_root = user == 0;
  int leaves_root = was_root && !(needs->permissions & PROCESS_ROOT);
  if (leaves_root && account(needs->accounts, &user, &group) < 0) {
    // The numbers of nobody and nogroup on every Linux.
    user = group = 65534;
  }
  set_limits(needs);
  if (needs->folder) make_folder(needs->folder, user, group, was_root);
  // While everything can still be opened.
  int ruleset = files_ruleset(needs);
  note(&report, "Landlock", ruleset);
  drop_capabilities(needs);
  if (leaves_root) note(&report, "another account", become(user, group, needs->groups));
  note(&report, "no capability", keep_capabilities(needs->capabilities));
  note(&report, "no new privileges", checked(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)));
  if (ruleset >= 0) {
    note(&report, "Landlock", files_restrict(ruleset));
    close(ruleset);
  } else {
    // Landlock would keep others of the account from its memory, its descriptors and what can be changed of it in /proc.
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  }
  note(&report, "seccomp", calls_restrict(needs->permissions));
  return report.length ? report.text : NULL;
}

const char *process_confine_spawner(const char *const *writable) {
  static const char *const all[] = {"/", NULL};
  // Whose outputs a guard writes, and by /proc how readily the kernel ends a video process.
  static const char *const devices[] = {"/dev", "/sys", "/proc", NULL};
  struct process_needs needs = {
      .permissions = PROCESS_PROGRAMS | PROCESS_NETWORK | PROCESS_ROOT | PROCESS_ACCOUNTS, .readable = all, .devices = devices,
      .writable = writable};
  static const int kept[] = {CAP_SETUID, CAP_SETGID, CAP_SETPCAP, CAP_CHOWN, CAP_KILL, CAP_DAC_OVERRIDE, CAP_FOWNER};
  for (size_t index = 0; index < sizeof kept / sizeof *kept; index++) needs.capabilities |= UINT64_C(1) << kept[index];
  return process_confine(&needs);
}

unsigned long process_devices(const char *const *patterns) {
  unsigned long sum = 0;
  for (const char *const *pattern = patterns; pattern && *pattern; pattern++) {
    glob_t found;
    if (glob(*pattern, 0, NULL, &found) != 0) continue;
    for (size_t index = 0; index < found.gl_pathc; index++) {
      struct stat status;
      if (stat(found.gl_pathv[index], &status) < 0) continue;
      // Of any order, and the same inode twice is not nothing.
      sum += (status.st_ino * 1099511628211ul) ^ (status.st_rdev * 16777619ul) ^ (unsigned long)status.st_ctim.tv_sec;
    }
    globfree(&found);
  }
  return sum;
}
