// Which system calls a child may make: a list of ours as a program for seccomp. What is not on it does not exist (ENOSYS), which is what
// libraries expect of an older kernel. Everything that mounts, traces, loads, names a clock, a user or a machine is missing on purpose.
#define _GNU_SOURCE
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

#ifdef MACHINE

// Numbers that Debian 12's headers need not know; the same on every machine.
enum {
  pidfd_send_signal = 424, pidfd_open = 434, clone3 = 435, close_range_call = 436, openat2 = 437, faccessat2 = 439,
  epoll_pwait2_call = 441, landlock_first = 444, landlock_last = 446, futex_waitv = 449,
};

static const uint16_t always[] = {
    // Every frame's first.
    SYS_futex, SYS_read, SYS_write, SYS_ppoll, SYS_recvmsg, SYS_sendmsg, SYS_sendto, SYS_recvfrom, SYS_clock_gettime,
    SYS_epoll_pwait, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_madvise, SYS_brk,
    // Files, of which Landlock says which.
    SYS_openat, openat2, SYS_close, close_range_call, SYS_lseek, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv,
    SYS_pwritev, SYS_preadv2, SYS_pwritev2, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_statfs, SYS_fstatfs, SYS_faccessat,
    faccessat2, SYS_readlinkat, SYS_getdents64, SYS_getcwd, SYS_chdir, SYS_fchdir, SYS_dup, SYS_dup3, SYS_pipe2,
    SYS_flock, SYS_ftruncate, SYS_truncate, SYS_fallocate, SYS_fadvise64, SYS_fsync, SYS_fdatasync, SYS_sync_file_range,
    SYS_copy_file_range, SYS_sendfile, SYS_splice, SYS_tee, SYS_vmsplice, SYS_readahead, SYS_mkdirat, SYS_unlinkat,
    SYS_renameat, SYS_renameat2, SYS_linkat, SYS_symlinkat, SYS_fchmod, SYS_fchmodat, SYS_utimensat, SYS_umask, SYS_getxattr, SYS_lgetxattr,
    SYS_fgetxattr, SYS_listxattr, SYS_inotify_init1, SYS_inotify_add_watch, SYS_inotify_rm_watch,
    // Waiting.
    SYS_pselect6, SYS_epoll_create1, SYS_epoll_ctl, epoll_pwait2_call, SYS_eventfd2, SYS_timerfd_create, SYS_timerfd_settime,
    SYS_timerfd_gettime, SYS_signalfd4, SYS_nanosleep, SYS_clock_getres, SYS_gettimeofday, SYS_times, SYS_getitimer,
    SYS_setitimer, SYS_timer_settime, SYS_timer_gettime, SYS_timer_getoverrun, SYS_timer_delete,
    // Memory, threads, signals.
    SYS_mremap, SYS_msync, SYS_mincore, SYS_mlock, SYS_mlock2, SYS_munlock, SYS_mlockall, SYS_munlockall, SYS_membarrier,
    SYS_memfd_create, SYS_get_mempolicy, SYS_set_mempolicy, SYS_mbind, futex_waitv, SYS_set_robust_list,
    SYS_rseq, SYS_set_tid_address, SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_getparam, SYS_sched_getscheduler,
    SYS_sched_getattr, SYS_sched_get_priority_max, SYS_sched_get_priority_min, SYS_sched_rr_get_interval, SYS_getpriority,
    SYS_getcpu, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending, SYS_rt_sigsuspend,
    SYS_rt_sigtimedwait, SYS_sigaltstack, SYS_restart_syscall, SYS_exit, SYS_exit_group, SYS_wait4, SYS_waitid,
    // Who it is.
    SYS_getpid, SYS_getppid, SYS_gettid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getresuid, SYS_getresgid,
    SYS_getgroups, SYS_getpgid, SYS_setpgid, SYS_getsid, SYS_setsid, SYS_getrlimit, SYS_setrlimit,
    SYS_getrusage, SYS_sysinfo, SYS_uname, SYS_capget, SYS_capset, SYS_seccomp, SYS_getrandom, landlock_first,
    landlock_first + 1, landlock_last,
    // Sockets, of the families below.
    SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_shutdown, SYS_getsockname,
    SYS_getpeername, SYS_getsockopt, SYS_setsockopt, SYS_sendmmsg, SYS_recvmmsg,
#ifdef __x86_64__
    // The older names, which only this machine has.
    SYS_open, SYS_creat, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_getdents, SYS_dup2, SYS_pipe, SYS_poll, SYS_select,
    SYS_epoll_create, SYS_epoll_wait, SYS_eventfd, SYS_signalfd, SYS_inotify_init, SYS_mkdir, SYS_rmdir, SYS_unlink, SYS_rename,
    SYS_link, SYS_symlink, SYS_chmod, SYS_utime, SYS_utimes, SYS_time, SYS_alarm, SYS_pause, SYS_getpgrp, SYS_arch_prctl,
#endif
};

// What acts on the process or thread whose number it is given, or on its own. A daemon and a spawner name others; a child does not.
static const uint16_t on_processes[] = {
    SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setparam, SYS_sched_setscheduler, SYS_sched_setattr, SYS_setpriority,
    SYS_kill, SYS_tgkill, pidfd_open, pidfd_send_signal, SYS_fcntl, SYS_prctl, SYS_timer_create, SYS_clock_nanosleep,
};

// What changes owners: a root daemon gives its files to the owner of their folder. And how a clock is read that this may not set.
static const uint16_t daemons[] = {SYS_adjtimex, SYS_clock_adjtime, SYS_fchown, SYS_fchownat};

// Children of the spawner change their account before they confine themselves.
static const uint16_t accounts[] = {
    SYS_setresuid, SYS_setresgid, SYS_setgroups, SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_fchown, SYS_fchownat,
};

#ifdef __x86_64__
static const uint16_t older_owners[] = {SYS_chown, SYS_lchown};
#endif

// Of newer kernels: processors shared with another process.
enum { schedule_with = 62 };

enum { most = 640, foreign_calls = 0x40000000, new_namespaces = 0x7E020000 | 0x00000080 };

struct program {
  struct sock_filter lines[most];
  unsigned short count;
};

static void add(struct program *program, uint16_t code, uint32_t value, uint8_t if_true, uint8_t if_false) {
  struct sock_filter line = {code, if_true, if_false, value};
  if (program->count == most) abort();
  program->lines[program->count++] = line;
}

static void load(struct program *program, size_t offset) { add(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0); }
static void answer(struct program *program, uint32_t value) { add(program, BPF_RET | BPF_K, value, 0, 0); }
static uint32_t refusal(int error) { return SECCOMP_RET_ERRNO | (uint32_t)error; }

static void answer_if(struct program *program, uint32_t value, uint32_t result) {
  add(program, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
  answer(program, result);
}

/// Adds a check of `call`: the low half of argument `index` is loaded, and the lines of `body` decide and end with an answer.
static void begin_call(struct program *program, uint32_t call, unsigned short *jump) {
  *jump = program->count;
  add(program, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 0);
}

static void end_call(struct program *program, unsigned short jump) {
  program->lines[jump].jf = (uint8_t)(program->count - jump - 1);
}

static void load_argument(struct program *program, int index) {
  load(program, offsetof(struct seccomp_data, args) + 8 * (size_t)index);
}

static void add_arguments(struct program *program, int permissions) {
  unsigned short jump;
  begin_call(program, SYS_ioctl, &jump);
  load_argument(program, 1);
  // To type into somebody's terminal.
  answer_if(program, TIOCSTI, refusal(EPERM));
  answer_if(program, TIOCLINUX, refusal(EPERM));
  // To have the kernel send somebody signals.
  answer_if(program, FIOSETOWN, refusal(EPERM));
  answer_if(program, SIOCSPGRP, refusal(EPERM));
  answer(program, SECCOMP_RET_ALLOW);
  end_call(program, jump);

  begin_call(program, SYS_socket, &jump);
  load_argument(program, 0);
  answer_if(program, AF_UNIX, SECCOMP_RET_ALLOW);
  if (permissions & (PROCESS_NETWORK | PROCESS_PROGRAMS)) {
    // udev's, and how libc finds out its own addresses.
    answer_if(program, AF_NETLINK, SECCOMP_RET_ALLOW);
  }
  if (permissions & PROCESS_NETWORK) {
    answer_if(program, AF_INET, SECCOMP_RET_ALLOW);
    answer_if(program, AF_INET6, SECCOMP_RET_ALLOW);
  }
  answer(program, refusal(EAFNOSUPPORT));
  end_call(program, jump);

  begin_call(program, SYS_clone, &jump);
  load_argument(program, 0);
  // A spawner's children are the daemon's; nobody else's are.
  uint32_t refused = new_namespaces | (permissions & PROCESS_ACCOUNTS ? 0 : CLONE_PARENT);
  add(program, BPF_JMP | BPF_JSET | BPF_K, refused, 0, 1);
  answer(program, refusal(EPERM));
  if (!(permissions & PROCESS_PROGRAMS)) {
    // A thread, and no process.
    add(program, BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0);
    answer(program, refusal(EPERM));
  }
  answer(program, SECCOMP_RET_ALLOW);
  end_call(program, jump);
}

/// Permits `call` only if argument `index` is `value`.
static void allow_only(struct program *program, uint32_t call, int index, uint32_t value) {
  unsigned short jump;
  begin_call(program, call, &jump);
  load_argument(program, index);
  answer_if(program, value, SECCOMP_RET_ALLOW);
  answer(program, refusal(EPERM));
  end_call(program, jump);
}

/// Permits `call` unless argument `index` is one of `count` values.
static void allow_unless(struct program *program, uint32_t call, int index, const uint32_t *values, size_t count) {
  unsigned short jump;
  begin_call(program, call, &jump);
  load_argument(program, index);
  for (size_t value = 0; value < count; value++) answer_if(program, values[value], refusal(EPERM));
  answer(program, SECCOMP_RET_ALLOW);
  end_call(program, jump);
}

/// Permits `call` for system-wide clocks. The clocks of processes and threads have negative numbers, and timers on them cost time in
/// the interrupts of their owner.
static void allow_common_clocks(struct program *program, uint32_t call) {
  unsigned short jump;
  begin_call(program, call, &jump);
  load_argument(program, 0);
  add(program, BPF_JMP | BPF_JSET | BPF_K, 0x80000000, 0, 1);
  answer(program, refusal(EPERM));
  answer(program, SECCOMP_RET_ALLOW);
  end_call(program, jump);
}

static void allow_all(struct program *program, const uint16_t *calls, size_t count) {
  for (size_t index = 0; index < count; index++) answer_if(program, calls[index], SECCOMP_RET_ALLOW);
}

/// Permits a child to affect itself and no other process. The daemon and its guard may have the same account, and before Linux
/// 6.12 no other mechanism prevents the child from ending them.
static void allow_on_itself(struct program *program, int permissions) {
  // By the number 0, which stands for the calling thread or process. Numbers of other threads are not known here.
  static const uint16_t calls[] = {
      SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setparam, SYS_sched_setscheduler, SYS_sched_setattr,
  };
  for (size_t index = 0; index < sizeof calls / sizeof *calls; index++) allow_only(program, calls[index], 0, 0);

  unsigned short jump;
  begin_call(program, SYS_setpriority, &jump);
  load_argument(program, 0);
  add(program, BPF_JMP | BPF_JEQ | BPF_K, PRIO_PROCESS, 1, 0);
  answer(program, refusal(EPERM));
  load_argument(program, 1);
  answer_if(program, 0, SECCOMP_RET_ALLOW);
  answer(program, refusal(EPERM));
  end_call(program, jump);

  // Signals by the own number alone: 0 and negative ones reach others. Not for one that starts processes: they inherit this filter, may stay
  // when it has ended, and another process may then have its number.
  if (permissions & PROCESS_PROGRAMS) {
    answer_if(program, SYS_kill, refusal(EPERM));
    answer_if(program, SYS_tgkill, refusal(EPERM));
  } else {
    allow_only(program, SYS_kill, 0, (uint32_t)getpid());
    allow_only(program, SYS_tgkill, 0, (uint32_t)getpid());
  }
  // Whom a file's signals go to and which, and whom a lease on it keeps waiting.
  static const uint32_t owners[] = {F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE};
  allow_unless(program, SYS_fcntl, 1, owners, sizeof owners / sizeof *owners);
  static const uint32_t options[] = {schedule_with};
  allow_unless(program, SYS_prctl, 0, options, 1);
  allow_common_clocks(program, SYS_timer_create);
  allow_common_clocks(program, SYS_clock_nanosleep);
}

int calls_restrict(int permissions) {
  struct program *program = calloc(1, sizeof *program);
  if (!program) return -ENOMEM;
  load(program, offsetof(struct seccomp_data, arch));
  add(program, BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0);
  answer(program, SECCOMP_RET_KILL_PROCESS);
  load(program, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
  add(program, BPF_JMP | BPF_JGE | BPF_K, foreign_calls, 0, 1);
  answer(program, refusal(ENOSYS));
#endif
  add_arguments(program, permissions);
  // The jumps above went on with the number still loaded.
  allow_all(program, always, sizeof always / sizeof *always);
  if (permissions & (PROCESS_DAEMON | PROCESS_ACCOUNTS)) {
    allow_all(program, on_processes, sizeof on_processes / sizeof *on_processes);
  } else {
    allow_on_itself(program, permissions);
  }
  if (permissions & PROCESS_DAEMON) allow_all(program, daemons, sizeof daemons / sizeof *daemons);
  if (permissions & PROCESS_ACCOUNTS) allow_all(program, accounts, sizeof accounts / sizeof *accounts);
#ifdef __x86_64__
  if (permissions & (PROCESS_DAEMON | PROCESS_ACCOUNTS)) {
    allow_all(program, older_owners, sizeof older_owners / sizeof *older_owners);
  }
#endif
  if (permissions & (PROCESS_PROGRAMS | PROCESS_ONE_PROGRAM)) {
    answer_if(program, SYS_execve, SECCOMP_RET_ALLOW);
    answer_if(program, SYS_execveat, SECCOMP_RET_ALLOW);
  }
#ifdef __x86_64__
  if (permissions & PROCESS_PROGRAMS) {
    answer_if(program, SYS_fork, SECCOMP_RET_ALLOW);
    answer_if(program, SYS_vfork, SECCOMP_RET_ALLOW);
  }
#endif
  // clone3 among them: its flags are in memory, where nobody can look; libc falls back on clone.
  answer(program, refusal(ENOSYS));
  struct sock_fprog filter = {program->count, program->lines};
  // By prctl: a service manager's own filter may not know the newer call.
  int result = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) < 0 ? -errno : 0;
  free(program);
  return result;
}

#else
int calls_restrict(int permissions) {
  (void)permissions;
  return -ENOSYS;
}
#endif
