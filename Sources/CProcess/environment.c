#define _GNU_SOURCE
#include "CProcess.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

// A name that ends with a star stands for all that begin so.
static const char *const kept[] = {
    "PATH", "LANG", "LC_*", "TZ", "HOME", "TMPDIR", "XDG_CACHE_HOME", "LD_LIBRARY_PATH", "GST_*", "LIBCAMERA_*",
    "DBUS_SYSTEM_BUS_ADDRESS", "SWIFT_BACKTRACE",
#ifdef MECHANISM_SWITCHES
    // A guard does without what its program does without: see Sources/Tactus/Safety/Mechanism.swift.
    "TACTUS_WITHOUT",
#endif
    NULL,
};

static int is_kept(const char *entry) {
  for (const char *const *name = kept; *name; name++) {
    size_t length = strlen(*name);
    int is_prefix = (*name)[length - 1] == '*';
    if (is_prefix) length--;
    if (strncmp(entry, *name, length) == 0 && (is_prefix || entry[length] == '=')) return 1;
  }
  return 0;
}

char **process_child_environment(void) {
  size_t count = 0, used = 0;
  while (environ && environ[count]) count++;
  char **result = calloc(count + 1, sizeof *result);
  for (size_t index = 0; result && index < count; index++) {
    if (is_kept(environ[index])) result[used++] = environ[index];
  }
  return result;
}

void process_forget_environment(const char *name) {
  char *value = getenv(name);
  // /proc/PID/environ shows this very memory.
  if (value) explicit_bzero(value, strlen(value));
  unsetenv(name);
}

void process_offer_to_out_of_memory(int score) {
  // A confined process cannot open it any more.
  static int descriptor = -1;
  if (descriptor < 0) descriptor = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  char text[8];
  int length = snprintf(text, sizeof text, "%d", score);
  if (descriptor >= 0 && pwrite(descriptor, text, (size_t)length, 0) < 0) return;
}

void process_begin_spawn(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawn_file_actions_init(actions);
  posix_spawnattr_init(attributes);
  posix_spawnattr_setsigmask(attributes, &none);
  posix_spawnattr_setsigdefault(attributes, &all);
  posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}
