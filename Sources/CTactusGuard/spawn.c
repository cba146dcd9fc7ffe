#define _GNU_SOURCE
#include "CTactusGuard.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

// A session of its own, every signal unblocked and at its default.
static void be_independent(posix_spawnattr_t *attributes, short more) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(attributes, &none);
  posix_spawnattr_setsigdefault(attributes, &all);
  posix_spawnattr_setflags(
      attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | more);
}

pid_t tactus_guard_spawn_self(
    char *const arguments[], char *const environment[], int descriptor, const int inherited[], int count) {
  enum { most = 20, first = TACTUS_GUARD_DESCRIPTOR + 1, aside = 64 };
  if (count > most) return -E2BIG;
  // Aside first: one of them may have a number that another is to get.
  int moved[most];
  for (int index = 0; index < count; index++) {
    moved[index] = fcntl(inherited[index], F_DUPFD_CLOEXEC, aside);
    if (moved[index] < 0) {
      int error = errno;
      while (index-- > 0) close(moved[index]);
      return -error;
    }
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  be_independent(&attributes, 0);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, descriptor, TACTUS_GUARD_DESCRIPTOR);
  for (int index = 0; index < count; index++) {
    posix_spawn_file_actions_adddup2(&actions, moved[index], first + index);
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, first + count);

  pid_t process = 0;
  int error =
      posix_spawn(&process, "/proc/self/exe", &actions, &attributes, arguments, environment ? environment : environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  for (int index = 0; index < count; index++) close(moved[index]);
  return error ? -error : process;
}

pid_t tactus_guard_spawn_program(char *const arguments[]) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  struct sched_param normal = {.sched_priority = 0};
  posix_spawnattr_setschedpolicy(&attributes, SCHED_OTHER);
  posix_spawnattr_setschedparam(&attributes, &normal);
  be_independent(&attributes, POSIX_SPAWN_SETSCHEDULER);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);

  pid_t process = 0;
  int error = posix_spawn(&process, arguments[0], &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error ? -error : process;
}

int tactus_guard_open_maker(int socket) {
  struct ucred maker;
  socklen_t size = sizeof maker;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &maker, &size) < 0) return -errno;
  // By number: glibc has no such function before 2.36.
  int opened = (int)syscall(434 /* pidfd_open */, maker.pid, 0);
  if (opened < 0) return -errno;
  if (getppid() == maker.pid) return opened;
  // It has ended, and another process may have its number.
  close(opened);
  return -ESRCH;
}

int tactus_guard_kill_process(int descriptor) {
  long sent = syscall(424 /* pidfd_send_signal */, descriptor, SIGKILL, (void *)0, 0);
  return sent < 0 && errno != ESRCH ? -errno : 0;
}

void tactus_guard_ignore_signals(void) {
  static const int ignored[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2};
  for (size_t index = 0; index < sizeof ignored / sizeof ignored[0]; index++) signal(ignored[index], SIG_IGN);
}
