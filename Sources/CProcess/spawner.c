// The spawner's process: one thread that waits for requests of the daemon, and does what its table says. There are two of them, with the same
// table: the second stands by until the first is gone.
#define _GNU_SOURCE
#include "spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

enum { send_to_process = 424, open_process = 434, TAKING_OVER_MS = 2000 };

static struct spawner_table table;
/// The role of this process: the first or the second spawner.
static struct {
  /// The socket for the daemon's requests.
  int requests;
  /// The socket between the two spawners, by which the first reports to the second what it has started; −1 without another spawner.
  int other;
  /// In the second spawner, the pidfd of the first; otherwise −1.
  int first;
} role = {.requests = SPAWNER_SOCKET, .other = -1, .first = -1};

/// Returns the lowest descriptor number above those in which a child gets `count` descriptors. It is no higher than needed, since a daemon
/// may be permitted few files.
static int aside(uint32_t count) { return 4 + (int)count; }

/// Runs in the new process, and returns only if the process cannot become the program.
static void become(const struct spawner_entry *entry, const int *descriptors, int null) {
  setsid();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  for (int number = 1; number < _NSIG; number++) signal(number, SIG_DFL);
  uint32_t next = 0;
  int is_placed = dup2(null, STDIN_FILENO) >= 0;
  if (entry->value != PROCESS_STREAMS_SHARED) is_placed = dup2(null, STDOUT_FILENO) >= 0 && is_placed;
  if (entry->value == PROCESS_STREAMS_NONE) is_placed = dup2(null, STDERR_FILENO) >= 0 && is_placed;
  if (entry->value == PROCESS_STREAMS_ERROR_FIRST) is_placed = dup2(descriptors[next++], STDERR_FILENO) >= 0 && is_placed;
  for (int place = 3; next < entry->descriptors; place++) is_placed = dup2(descriptors[next++], place) >= 0 && is_placed;
  // Everything else is closed by exec.
  if (is_placed) execve(entry->words[0], entry->words + 1, environ);
}

/// Reports a started process from the first spawner to the second, so that the second can end it and starts no duplicate. The call
/// never waits: a stopped second spawner misses the report.
static void tell_other(const struct spawner_entry *entry) {
  if (role.other < 0) return;
  struct spawner_head head = {.kind = SPAWNER_START, .entry = (uint32_t)(entry - table.entries), .descriptors = 1};
  if (spawner_send(role.other, &head, sizeof head, &entry->process, 1) < 0) return;
}

/// Receives a report of the first spawner in the second. Returns whether there may be more reports.
static int take_process(void) {
  struct spawner_head head;
  int descriptors[SPAWNER_DESCRIPTORS];
  uint32_t count = 0;
  ssize_t size = spawner_receive(role.other, &head, sizeof head, descriptors, &count);
  if (size == -EAGAIN) return 0;
  if (size == sizeof head && count == 1 && head.entry < table.count) {
    struct spawner_entry *entry = &table.entries[head.entry];
    if (entry->process >= 0) close(entry->process);
    entry->process = descriptors[0];
    return 1;
  }
  while (count > 0) close(descriptors[--count]);
  if (size > 0) return 1;
  close(role.other);
  role.other = -1;
  return 0;
}

/// Takes over in the second spawner at its first request, since the daemon has given up the first. A first that only hung is killed.
static void take_over(void) {
  if (role.first < 0) return;
  syscall(send_to_process, role.first, SIGKILL, NULL, 0);
  struct pollfd told = {.fd = role.other, .events = POLLIN};
  while (role.other >= 0 && poll(&told, 1, TAKING_OVER_MS) > 0) take_process();
  if (role.other >= 0) close(role.other);
  close(role.first);
  role.other = role.first = -1;
}

/// Starts a process. Returns its id or −errno. The child belongs to the daemon, which reaps it (CLONE_PARENT).
static int start(struct spawner_entry *entry, const int *descriptors, int null, int32_t *process) {
  if (entry->process >= 0) {
    // Two guards must never write at once, nor two processes have one camera.
    struct pollfd ended = {.fd = entry->process, .events = POLLIN};
    if (poll(&ended, 1, 0) == 0) return -EBUSY;
    close(entry->process);
    entry->process = -1;
  }
  if (entry->value == PROCESS_STREAMS_ERROR_FIRST && entry->descriptors == 0) return -EINVAL;
  int report[2];
  if (pipe2(report, O_CLOEXEC) < 0) return -errno;
  int end = fcntl(report[1], F_DUPFD_CLOEXEC, aside(entry->descriptors));
  close(report[1]);
  long child = end < 0 ? -1 : syscall(SYS_clone, CLONE_PARENT | CLONE_PIDFD | SIGCHLD, 0, &entry->process, 0, 0);
  if (child == 0) {
    become(entry, descriptors, null);
    int error = errno ? errno : EBADF;
    ssize_t ignored = write(end, &error, sizeof error);
    (void)ignored;
    _exit(127);
  }
  int error = child < 0 ? errno : 0;
  if (end >= 0) close(end);
  if (child < 0) entry->process = -1;
  else tell_other(entry);
  // Its end comes when the process has become its program.
  if (child > 0 && read(report[0], &error, sizeof error) != sizeof error) error = 0;
  close(report[0]);
  if (child > 0) *process = (int32_t)child;
  return error ? -error : (int)child;
}

static int send_signal(const struct spawner_entry *entry, int signal) {
  if (entry->process < 0) return -ESRCH;
  return syscall(send_to_process, entry->process, signal, NULL, 0) < 0 ? -errno : 0;
}

/// Carries out a request that has been checked. The descriptor for its reply goes to `opened`.
static int carry_out(const struct spawner_head *head, const int *descriptors, int null, int32_t *process, int *opened) {
  if (head->kind >= SPAWNER_START) take_over();
  struct spawner_entry *entry = &table.entries[head->entry < SPAWNER_ENTRIES ? head->entry : 0];
  switch (head->kind) {
    case SPAWNER_START: return start(entry, descriptors, null, process);
    case SPAWNER_SIGNAL: return send_signal(entry, head->value);
    case SPAWNER_OPEN:
      *opened = open(entry->words[0], entry->value | O_CLOEXEC);
      return *opened < 0 ? -errno : 0;
    default: return 0;
  }
}

/// Returns whether the socket is one end of a pair that the daemon made as the same user, since only the daemon may start a spawner.
static int is_of_the_daemon(int socket) {
  int type = 0;
  struct ucred maker;
  socklen_t type_size = sizeof type, maker_size = sizeof maker;
  return getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &type_size) == 0 && type == SOCK_SEQPACKET &&
         getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &maker, &maker_size) == 0 && maker.uid == geteuid() &&
         maker.pid == getppid();
}

/// Handles the end of the daemon. Children with PR_SET_PDEATHSIG do not get their signal, because the kernel sends it in the name
/// of the daemon, which lacks the permission. The guard, which shares the daemon's streams, is not ended, since it has to work now.
static void end_children(void) {
  // The first may have been killed together with the daemon.
  while (role.first >= 0 && role.other >= 0 && take_process()) continue;
  for (uint32_t index = 0; index < table.count; index++) {
    const struct spawner_entry *entry = &table.entries[index];
    if (entry->kind != SPAWNER_PROGRAM || entry->value == PROCESS_STREAMS_SHARED) continue;
    send_signal(entry, entry->value == PROCESS_STREAMS_NONE ? SIGTERM : SIGKILL);
  }
}

/// Waits for a request, and receives reports of the first spawner meanwhile.
static void await_request(void) {
  for (;;) {
    struct pollfd waiting[2] = {
        {.fd = role.requests, .events = POLLIN}, {.fd = role.first >= 0 ? role.other : -1, .events = POLLIN}};
    if (poll(waiting, 2, -1) < 0) continue;
    if (waiting[1].revents) take_process();
    else if (waiting[0].revents) return;
  }
}

static void serve(int null) {
  static char bytes[SPAWNER_SIZE];
  for (;;) {
    int descriptors[SPAWNER_DESCRIPTORS], opened = -1;
    uint32_t count = 0;
    await_request();
    ssize_t size = spawner_receive(role.requests, bytes, sizeof bytes, descriptors, &count);
    if (size == 0 || (size < 0 && size != -EMSGSIZE)) return;
    // Aside: each may have the number that another is to get.
    int has_room = 1;
    for (uint32_t index = 0; index < count; index++) {
      int moved = fcntl(descriptors[index], F_DUPFD_CLOEXEC, aside(count));
      close(descriptors[index]);
      descriptors[index] = moved;
      has_room = has_room && moved >= 0;
    }
    struct spawner_head head = {0};
    struct spawner_reply reply = {.result = (int32_t)(size < 0 ? size : has_room ? 0 : -EMFILE)};
    if (reply.result == 0) reply.result = spawner_check(&table, bytes, (size_t)size, count, &head);
    reply.number = head.number;
    if (reply.result == 0) reply.result = carry_out(&head, descriptors, null, &reply.process, &opened);
    int sent = spawner_send(role.requests, &reply, sizeof reply, &opened, opened >= 0);
    if (opened >= 0) close(opened);
    for (uint32_t index = 0; index < count; index++) {
      if (descriptors[index] >= 0) close(descriptors[index]);
    }
    if (sent < 0) return;
  }
}

/// Forks the second spawner, equally confined, and returns in both. It is also a child of the daemon, and first reports its process id.
static void divide(void) {
  int pair[2];
  int own = (int)syscall(open_process, getpid(), 0);
  long child = -1;
  if (own >= 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0) {
    child = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
    role.other = pair[child == 0];
    close(pair[child != 0]);
  }
  close(child == 0 ? SPAWNER_SOCKET : SPAWNER_SECOND_SOCKET);
  if (child != 0) {
    if (own >= 0) close(own);
    return;
  }
  role.requests = SPAWNER_SECOND_SOCKET;
  role.first = own;
  prctl(PR_SET_NAME, "tactus-standby", 0, 0, 0);
  struct spawner_reply hello = {.process = getpid()};
  spawner_send(role.requests, &hello, sizeof hello, NULL, 0);
}

int process_spawner_main(int count, char **folders) {
  if (!is_of_the_daemon(SPAWNER_SOCKET)) return 64;
  int has_second = is_of_the_daemon(SPAWNER_SECOND_SOCKET);
  static const int ignored[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2};
  for (size_t index = 0; index < sizeof ignored / sizeof *ignored; index++) signal(ignored[index], SIG_IGN);
  fcntl(SPAWNER_SOCKET, F_SETFD, FD_CLOEXEC);
  if (has_second) fcntl(SPAWNER_SECOND_SOCKET, F_SETFD, FD_CLOEXEC);
  int null = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, aside(0));
  if (null < 0) return 1;
  const char **writable = calloc((size_t)count + 1, sizeof *writable);
  if (!writable) return 1;
  for (int index = 0; index < count; index++) writable[index] = folders[index];
  process_confine_spawner(writable);
  if (has_second) divide();
  serve(null);
  end_children();
  return 0;
}
