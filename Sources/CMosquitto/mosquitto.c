#ifdef MQTT
#define _GNU_SOURCE
#include "CMosquitto.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

// Between fork and exec only what is async-signal-safe: other threads may hold any lock.
static void run(
  const char *path, char *const arguments[], const int files[MQTT_FILES], uid_t user, gid_t group, pid_t parent, int report) {
  // Before the signal is asked for: becoming somebody else forgets it.
  int is_other = user != geteuid();
  int refused = is_other && (setgroups(0, NULL) < 0 || setresgid(group, group, group) < 0 || setresuid(user, user, user) < 0);
  int reason = errno;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  int null = open("/dev/null", O_RDWR);
  for (int descriptor = 0; descriptor < 3; descriptor++) dup2(null, descriptor);
  // Any may have another's number.
  int pipe = fcntl(report, F_DUPFD, 4 + MQTT_FILES), copies[MQTT_FILES];
  for (int place = 0; place < MQTT_FILES; place++) copies[place] = fcntl(files[place], F_DUPFD, 4 + MQTT_FILES);
  dup2(pipe, 3);
  for (int place = 0; place < MQTT_FILES; place++) dup2(copies[place], 4 + place);
  fcntl(3, F_SETFD, FD_CLOEXEC);
  closefrom(4 + MQTT_FILES);
  if (refused) {
    write(3, &reason, sizeof reason);
    _exit(127);
  }
  // Not ours: it holds the service's token, and whatever the configuration takes from it.
  char *const environment[] = {"PATH=/usr/bin:/bin", NULL};
  execve(path, arguments, environment);
  int error = errno;
  write(3, &error, sizeof error);
  _exit(127);
}

pid_t mqtt_spawn(const char *path, char *const arguments[], const int files[MQTT_FILES], uid_t user, gid_t group) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) < 0) return -errno;
  pid_t parent = getpid();
  pid_t child = fork();
  if (child == 0) run(path, arguments, files, user, group, parent, report[1]);
  int error = child < 0 ? errno : 0;
  close(report[1]);
  // The end of file comes with the exec.
  if (child > 0) {
    while (read(report[0], &error, sizeof error) < 0 && errno == EINTR) {}
  }
  close(report[0]);
  return error ? -error : child;
}
#endif
