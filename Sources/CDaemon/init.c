#define _GNU_SOURCE
#include "CDaemon.h"
#include "CProcess.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// What is left to the guard to make outputs safe when the daemon has ended: the kernel ends a container with its process 1.
enum { seconds_after_end = 5 };

static int exit_status(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

void daemon_run_below_init(char *const arguments[]) {
  sigset_t all, before;
  if (getpid() != 1) return;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before)) return;
  pid_t daemon = fork();
  if (daemon == 0) {
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    execv("/proc/self/exe", arguments);
    _exit(127);
  }
  if (daemon < 0) {
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return;
  }
  // Other processes of the same user could read it in /proc.
  process_forget_environment("TACTUS_TOKEN");
  int has_ended = 0, result = 0;
  for (;;) {
    int status;
    pid_t ended;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
      if (ended != daemon) continue;
      has_ended = 1;
      result = exit_status(status);
      alarm(seconds_after_end);
    }
    if (has_ended && ended < 0) _exit(result);
    siginfo_t info;
    int signal = sigwaitinfo(&all, &info);
    if (signal == SIGALRM && has_ended) _exit(result);
    // What a terminal sends goes to its whole group.
    if (signal > 0 && signal != SIGCHLD && !has_ended && info.si_code != SI_KERNEL) kill(daemon, signal);
  }
}
