#define _GNU_SOURCE
#include "CDaemon.h"
#include "CProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int daemon_signal_descriptor(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  sigaddset(&set, SIGCHLD);
  int descriptor = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor < 0) return -errno;
  sigaddset(&set, SIGPIPE);
  int error = pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (error) {
    close(descriptor);
    return -error;
  }
  return descriptor;
}

int daemon_next_signal(int descriptor) {
  struct signalfd_siginfo info;
  ssize_t count = read(descriptor, &info, sizeof info);
  if (count == sizeof info) return (int)info.ssi_signo;
  return count < 0 && errno != EAGAIN && errno != EINTR ? -errno : 0;
}

int daemon_socket_pair(int pair[2]) {
  return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ? -errno : 0;
}

ssize_t daemon_send(int socket, const void *bytes, size_t count) {
  ssize_t sent = send(socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent < 0 ? -errno : sent;
}

ssize_t daemon_send_with(int socket, const void *bytes, size_t count, int descriptor) {
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
  union {
    struct cmsghdr aligned;
    char bytes[CMSG_SPACE(sizeof(int))];
  } room = {0};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof room.bytes};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent < 0 ? -errno : sent;
}

ssize_t daemon_receive_with(int socket, void *bytes, size_t count, int flags, int *descriptor) {
  struct iovec part = {.iov_base = bytes, .iov_len = count};
  union {
    struct cmsghdr aligned;
    char bytes[CMSG_SPACE(sizeof(int))];
  } room;
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof room.bytes};
  *descriptor = -1;
  ssize_t received = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  if (received < 0) return -errno;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    memcpy(descriptor, CMSG_DATA(header), sizeof(int));
  }
  return received;
}

int daemon_declare(const char *path, char *const arguments[]) {
  return process_declare(path, arguments, PROCESS_STREAMS_ERROR_FIRST, 2);
}

int daemon_send_signal(pid_t process, int signal) { return process_signal(process, signal); }

pid_t daemon_spawn(const char *path, char *const arguments[], int descriptor, int error) {
  if (process_has_spawner()) {
    const int given[] = {error, descriptor};
    return process_start(path, arguments, PROCESS_STREAMS_ERROR_FIRST, given, 2);
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  process_begin_spawn(&actions, &attributes);

  struct sched_param normal = {.sched_priority = 0};
  short flags = 0;
  posix_spawnattr_setschedpolicy(&attributes, SCHED_OTHER);
  posix_spawnattr_setschedparam(&attributes, &normal);
  posix_spawnattr_getflags(&attributes, &flags);
  posix_spawnattr_setflags(&attributes, flags | POSIX_SPAWN_SETSCHEDULER);
  // 3 last: the others may have that number.
  posix_spawn_file_actions_adddup2(&actions, error, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, descriptor, 3);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, 4);

  pid_t process = 0;
  char **environment = process_child_environment();
  int failure = environment ? posix_spawn(&process, path, &actions, &attributes, arguments, environment) : ENOMEM;
  free(environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failure ? -failure : process;
}

void daemon_die_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }

void daemon_terminate_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGTERM); }

int daemon_notify(const char *socket_path, const char *message) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(socket_path);
  if (length < 2 || length >= sizeof address.sun_path) return -EINVAL;
  memcpy(address.sun_path, socket_path, length);
  if (address.sun_path[0] == '@') address.sun_path[0] = 0;
  int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -errno;
  socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
  ssize_t sent = sendto(
    descriptor, message, strlen(message), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&address, size);
  int error = sent < 0 ? -errno : 0;
  close(descriptor);
  return error;
}
