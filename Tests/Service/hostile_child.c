// Hostile code in every child of the daemon's: a library that the loader puts into every program of a test's. Once a child has confined
// itself, it tries on the processes of a list all that could hurt one of the same account, and tells the test what came of it.
// Compiled with -DCONTROL it tries at once, in a program that nobody has confined; with -DNO_LANDLOCK the kernel has no Landlock.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef FOLDER
#error "FOLDER: where the list of processes and the test's socket are"
#endif
enum { MOST = 60000, CREATE_RULESET = 444, SCHED_CORE = 62 };

static long call(long number, long a, long b, long c, long d, long e, long f) {
  static long (*real)(long, ...);
  if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  return real(number, a, b, c, d, e, f);
}

struct report {
  char text[MOST];
  size_t length;
};

static void tell(struct report *report, const char *what, long result) {
  int error = errno;
  if (report->length > MOST - 200) return;
  report->length += (size_t)snprintf(
      report->text + report->length, MOST - report->length, "%s %s\n", what, result < 0 ? strerrorname_np(error) : "done");
}

#define TRY(number, ...) tell(report, #number, call(SYS_##number, __VA_ARGS__))

static void on_files(struct report *report, int process) {
  static const struct {
    const char *name;
    int flags;
  } files[] = {
      {"mem", O_RDWR}, {"mem", O_RDONLY}, {"oom_score_adj", O_WRONLY}, {"timerslack_ns", O_WRONLY}, {"comm", O_WRONLY},
      {"autogroup", O_WRONLY}, {"coredump_filter", O_WRONLY}, {"clear_refs", O_WRONLY}, {"sched", O_WRONLY},
      {"environ", O_RDONLY}, {"fd/0", O_RDONLY}, {"cwd", O_RDONLY},
  };
  for (size_t index = 0; index < sizeof files / sizeof *files; index++) {
    char path[64], name[64];
    snprintf(path, sizeof path, "/proc/%d/%s", process, files[index].name);
    snprintf(name, sizeof name, "/proc/%s%s", files[index].name, files[index].flags == O_RDONLY ? "(read)" : "");
    int opened = open(path, files[index].flags | O_CLOEXEC);
    // Of some it is decided later whether it may be.
    char byte;
    long result = opened;
    if (opened >= 0 && strcmp(files[index].name, "environ") == 0) result = read(opened, &byte, 1);
    if (opened >= 0 && files[index].flags == O_WRONLY) result = write(opened, "0", 1);
    tell(report, name, result);
    if (opened >= 0) close(opened);
  }
}

static void on_process(struct report *report, int process, int thread) {
  struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY}, none;
  struct sched_param normal = {0};
  unsigned char attributes[48] = {48};
  unsigned long processors[16] = {1};
  siginfo_t information = {.si_signo = 0, .si_code = SI_QUEUE};
  char room[64];
  struct iovec own = {room, sizeof room}, theirs = {(void *)0x400000, sizeof room};
  void *head = NULL;
  size_t length = 0;
  long clock = ~(long)process << 3 | 2;
  timer_t timer;
  struct timespec moment = {0, 1};
  struct f_owner_ex owner = {F_OWNER_TID, thread};
  char path[64];

  TRY(prlimit64, process, RLIMIT_CPU, (long)&all, 0, 0, 0);
  TRY(prlimit64, process, RLIMIT_NOFILE, 0, (long)&none, 0, 0);
  TRY(prlimit64, thread, RLIMIT_NOFILE, 0, (long)&none, 0, 0);
  TRY(sched_setscheduler, thread, SCHED_OTHER, (long)&normal, 0, 0, 0);
  TRY(sched_setparam, process, (long)&normal, 0, 0, 0, 0);
  TRY(sched_setattr, thread, (long)attributes, 0, 0, 0, 0);
  TRY(sched_setaffinity, thread, sizeof processors, (long)processors, 0, 0, 0);
  TRY(setpriority, PRIO_PROCESS, thread, 19, 0, 0, 0);
  TRY(setpriority, PRIO_PGRP, getpgid(process), 19, 0, 0, 0);
#ifndef CONTROL
  TRY(setpriority, PRIO_USER, 0, 19, 0, 0, 0);
#endif
  TRY(ioprio_set, 1, process, 3 << 13, 0, 0, 0);
  TRY(kill, process, 0, 0, 0, 0, 0);
  TRY(kill, -getpgid(process), 0, 0, 0, 0, 0);
  TRY(kill, -1, 0, 0, 0, 0, 0);
  TRY(kill, process | 1L << 32, 0, 0, 0, 0, 0);
  TRY(tkill, thread, 0, 0, 0, 0, 0);
  TRY(tgkill, process, thread, 0, 0, 0, 0);
  TRY(rt_sigqueueinfo, process, 0, (long)&information, 0, 0, 0);
  TRY(rt_tgsigqueueinfo, process, thread, 0, (long)&information, 0, 0);
  TRY(pidfd_open, process, 0, 0, 0, 0, 0);
  snprintf(path, sizeof path, "/proc/%d", process);
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) TRY(pidfd_send_signal, folder, 0, 0, 0, 0, 0);
  if (folder >= 0) close(folder);
  TRY(process_vm_readv, process, (long)&own, 1, (long)&theirs, 1, 0);
  TRY(process_vm_writev, process, (long)&own, 1, (long)&theirs, 1, 0);
  TRY(ptrace, PTRACE_SEIZE, process, 0, 0, 0, 0);
  TRY(process_madvise, -1, (long)&theirs, 1, 21, 0, 0);
  TRY(move_pages, process, 0, 0, 0, 0, 0);
  TRY(migrate_pages, process, 64, (long)processors, (long)processors, 0, 0);
  TRY(kcmp, process, getpid(), 1, 0, 0, 0);
  TRY(get_robust_list, thread, (long)&head, (long)&length, 0, 0, 0);
  TRY(setpgid, process, 0, 0, 0, 0, 0);
  TRY(process_mrelease, -1, 0, 0, 0, 0, 0);
  TRY(perf_event_open, (long)(char[128]){0}, process, -1, -1, 0, 0);
  TRY(timer_create, clock, 0, (long)&timer, 0, 0, 0);
  TRY(clock_nanosleep, clock, TIMER_ABSTIME, (long)&moment, 0, 0, 0);
  TRY(prctl, SCHED_CORE, 1, process, 0, 0, 0);

  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) {
    TRY(fcntl, pair[0], F_SETSIG, SIGKILL, 0, 0, 0);
    TRY(fcntl, pair[0], F_SETOWN, process, 0, 0, 0);
    TRY(fcntl, pair[0], F_SETOWN_EX, (long)&owner, 0, 0, 0);
    TRY(ioctl, pair[0], FIOSETOWN, (long)&process, 0, 0, 0);
    TRY(ioctl, pair[0], SIOCSPGRP, (long)&process, 0, 0, 0);
    close(pair[0]);
    close(pair[1]);
  }
  on_files(report, process);
}

static void on_nobody(struct report *report) {
  tell(report, "kill(0)", call(SYS_kill, 0, 0, 0, 0, 0, 0));
#ifndef CONTROL
  // A sibling of ours: a child of the daemon's.
  long born = call(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0, 0);
  if (born == 0) _exit(0);
  tell(report, "clone(CLONE_PARENT)", born);
#endif
  int own = memfd_create("own", MFD_CLOEXEC);
  tell(report, "fcntl(F_SETLEASE)", fcntl(own, F_SETLEASE, F_WRLCK));
  close(own);
  // What a child has to be able to do to itself.
  struct rlimit limit;
  getrlimit(RLIMIT_CORE, &limit);
  tell(report, "own:setrlimit", setrlimit(RLIMIT_CORE, &limit));
  tell(report, "own:nice", setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0)));
  unsigned long processors[16] = {0};
  long size = call(SYS_sched_getaffinity, 0, sizeof processors, (long)processors, 0, 0, 0);
  tell(report, "own:affinity", call(SYS_sched_setaffinity, 0, size, (long)processors, 0, 0, 0));
}

static void attack(const char *kind) {
  static struct report report;
  int thread, process;
  FILE *list = fopen(FOLDER "/processes", "re");
  if (!list) return;
  report.length = (size_t)snprintf(report.text, MOST, "%s %d %d\n", kind, getpid(), (int)geteuid());
  while (fscanf(list, "%d %d", &process, &thread) == 2) {
    if (process == getpid()) continue;
    report.length += (size_t)snprintf(report.text + report.length, MOST - report.length, "on %d\n", process);
    on_process(&report, process, thread);
  }
  fclose(list);
  report.length += (size_t)snprintf(report.text + report.length, MOST - report.length, "on nobody\n");
  on_nobody(&report);
  struct sockaddr_un test = {.sun_family = AF_UNIX, .sun_path = FOLDER "/results"};
  int out = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  // In parts: a datagram has less room.
  for (size_t start = 0; start <= report.length; start += 8000) {
    char part[8100];
    size_t rest = report.length - start;
    int length = snprintf(part, sizeof part, "%s:%d\n", kind, getpid());
    size_t count = rest < 8000 ? rest : 8000;
    memcpy(part + length, report.text + start, count);
    sendto(out, part, (size_t)length + count, 0, (struct sockaddr *)&test, sizeof test);
  }
  snprintf(report.text, sizeof report.text, "%s:%d\nend\n", kind, getpid());
  sendto(out, report.text, strlen(report.text), 0, (struct sockaddr *)&test, sizeof test);
  close(out);
}

static void *wait_and_attack(void *kind) {
  struct timespec pause = {0, 50000000};
  while (access(FOLDER "/processes", R_OK) != 0) nanosleep(&pause, NULL);
  attack(kind);
  return NULL;
}

static void begin(const char *kind) {
  pthread_t thread;
  // One that ends soon is asked for when the list is there.
  if (access(FOLDER "/processes", R_OK) == 0) attack(kind);
  else if (pthread_create(&thread, NULL, wait_and_attack, (void *)kind) == 0) pthread_detach(thread);
}

/// Which child this is; `NULL` for daemon and spawners, and for the launcher of the broker, whose filter is the broker's.
static const char *kind(void) {
  static char path[4096], words[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return NULL;
  path[length] = 0;
  const char *name = strrchr(path, '/') + 1;
  int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  ssize_t count = file < 0 ? 0 : read(file, words, sizeof words - 1);
  if (file >= 0) close(file);
  words[count > 0 ? count : 0] = 0;
  const char *first = words + strlen(words) + 1;
  if (strcmp(name, "tactus") == 0) return strcmp(first, "guard") == 0 ? "guard" : NULL;
  if (strcmp(name, "tactus-video") == 0) return strcmp(first, "detector") == 0 ? "detector" : "video";
  if (strcmp(name, "tactus-cameras") == 0) return "cameras";
  if (strcmp(name, "tactus-detect") == 0) return "detect";
  return strcmp(name, "mosquitto") == 0 ? "broker" : NULL;
}

#ifdef CONTROL
__attribute__((constructor)) static void control(void) { attack("control"); }
#else
__attribute__((constructor)) static void broker(void) {
  const char *name = kind();
  // Not a test's own.
  if (name && strcmp(name, "broker") == 0 && call(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0) == 2) begin(name);
}

int prctl(int option, ...) {
  va_list arguments;
  va_start(arguments, option);
  long a = va_arg(arguments, long), b = va_arg(arguments, long), c = va_arg(arguments, long), d = va_arg(arguments, long);
  va_end(arguments);
  long result = call(SYS_prctl, option, a, b, c, d, 0);
  const char *name;
  if (option == PR_SET_SECCOMP && result == 0 && (name = kind())) begin(name);
  return (int)result;
}
#endif

#ifdef NO_LANDLOCK
long syscall(long number, ...) {
  va_list arguments;
  va_start(arguments, number);
  long a = va_arg(arguments, long), b = va_arg(arguments, long), c = va_arg(arguments, long), d = va_arg(arguments, long);
  long e = va_arg(arguments, long), f = va_arg(arguments, long);
  va_end(arguments);
  if (number == CREATE_RULESET) {
    errno = ENOSYS;
    return -1;
  }
  return call(number, a, b, c, d, e, f);
}
#endif
