#define _GNU_SOURCE
#include "CTactusGuard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int tactus_guard_socket_pair(int pair[2]) {
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) return -errno;
  for (int end = 0; end < 2; end++) {
    if (pair[end] > STDERR_FILENO) continue;
    int above = fcntl(pair[end], F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
    if (above < 0) {
      close(pair[0]);
      close(pair[1]);
      return -error;
    }
    close(pair[end]);
    pair[end] = above;
  }
  return 0;
}

void tactus_guard_take_place(int old, int socket) {
  dup3(socket, old, O_CLOEXEC);
  close(socket);
}

int tactus_guard_send(int socket, const struct tactus_guard_message *message) {
  return send(socket, message, sizeof *message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

int tactus_guard_receive(int socket, struct tactus_guard_message *message) {
  ssize_t count;
  // MSG_TRUNC: the whole length of a message that is longer.
  do count = recv(socket, message, sizeof *message, MSG_DONTWAIT | MSG_TRUNC);
  while (count < 0 && errno == EINTR);
  if (count < 0) return -errno;
  if (count == 0) return 0;
  return count == sizeof *message ? 1 : -EPROTO;
}

int tactus_guard_send_ready(int socket, uint64_t watchdog_s, const char *text, size_t length) {
  struct tactus_guard_message message = {.kind = TACTUS_GUARD_READY, .number = watchdog_s};
  struct iovec parts[2] = {
      {.iov_base = &message, .iov_len = sizeof message},
      {.iov_base = (void *)text, .iov_len = length < 8000 ? length : 8000},
  };
  struct msghdr whole = {.msg_iov = parts, .msg_iovlen = 2};
  return sendmsg(socket, &whole, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

int tactus_guard_await_ready(int socket, int timeout_ms, uint64_t *watchdog_s, char *text, size_t size) {
  text[0] = 0;
  struct pollfd waiting = {.fd = socket, .events = POLLIN};
  int ready;
  do ready = poll(&waiting, 1, timeout_ms);
  while (ready < 0 && errno == EINTR);
  if (ready <= 0) return 0;
  struct tactus_guard_message message;
  struct iovec parts[2] = {
      {.iov_base = &message, .iov_len = sizeof message},
      {.iov_base = text, .iov_len = size - 1},
  };
  struct msghdr whole = {.msg_iov = parts, .msg_iovlen = 2};
  ssize_t count = recvmsg(socket, &whole, MSG_DONTWAIT);
  if (count < (ssize_t)sizeof message || message.kind != TACTUS_GUARD_READY) return 0;
  text[(size_t)count - sizeof message] = 0;
  if (watchdog_s) *watchdog_s = message.number;
  return 1;
}
