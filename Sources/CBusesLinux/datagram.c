#define _GNU_SOURCE
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "CBusesLinux.h"
#include "descriptor.h"

union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
};

struct tactus_datagram_socket {
  int descriptor;
  int family;
  struct mmsghdr messages[TACTUS_DATAGRAM_BATCH];
  struct iovec parts[TACTUS_DATAGRAM_BATCH];
  union address sources[TACTUS_DATAGRAM_BATCH];
  // What the kernel says of each datagram besides: when it came.
  union {
    struct cmsghdr alignment;
    char bytes[CMSG_SPACE(sizeof(struct timespec))];
  } notes[TACTUS_DATAGRAM_BATCH];
  // What `parts` point into, and how many messages the last call filled.
  const void *bytes;
  size_t size;
  int used;
};

static const uint64_t mapped = 0xFFFF00000000;  // ::ffff:0:0/96

static void set_endpoint(struct tactus_endpoint *endpoint, const union address *address) {
  memset(endpoint, 0, sizeof *endpoint);
  if (address->any.sa_family == AF_INET) {
    endpoint->low = mapped | ntohl(address->v4.sin_addr.s_addr);
    endpoint->port = ntohs(address->v4.sin_port);
    return;
  }
  uint64_t words[2];
  memcpy(words, &address->v6.sin6_addr, 16);
  endpoint->high = be64toh(words[0]);
  endpoint->low = be64toh(words[1]);
  endpoint->scope = address->v6.sin6_scope_id;
  endpoint->port = ntohs(address->v6.sin6_port);
}

/// Returns the length of the socket address, or 0 if `family` cannot reach the endpoint.
static socklen_t set_address(union address *address, int family, const struct tactus_endpoint *endpoint) {
  memset(address, 0, sizeof *address);
  if (family == AF_INET) {
    if (endpoint->high != 0 || endpoint->low >> 32 != 0xFFFF) return 0;
    address->v4.sin_family = AF_INET;
    address->v4.sin_addr.s_addr = htonl((uint32_t)endpoint->low);
    address->v4.sin_port = htons(endpoint->port);
    return sizeof address->v4;
  }
  uint64_t words[2] = {htobe64(endpoint->high), htobe64(endpoint->low)};
  address->v6.sin6_family = AF_INET6;
  memcpy(&address->v6.sin6_addr, words, 16);
  address->v6.sin6_scope_id = endpoint->scope;
  address->v6.sin6_port = htons(endpoint->port);
  return sizeof address->v6;
}

static int parse_scope(const char *text, uint32_t *scope) {
  char *end;
  unsigned long number = strtoul(text, &end, 10);
  if (*text >= '0' && *text <= '9' && *end == 0 && number <= UINT32_MAX) {
    *scope = (uint32_t)number;
    return 0;
  }
  *scope = if_nametoindex(text);
  return *scope == 0 ? -EINVAL : 0;
}

int tactus_parse_address(const char *text, struct tactus_endpoint *endpoint) {
  union address address = {0};
  uint16_t port = endpoint->port;
  if (inet_pton(AF_INET, text, &address.v4.sin_addr) == 1) {
    address.any.sa_family = AF_INET;
    set_endpoint(endpoint, &address);
    endpoint->port = port;
    return 4;
  }
  char copy[INET6_ADDRSTRLEN + IF_NAMESIZE + 1];
  if (strlen(text) >= sizeof copy) return -EINVAL;
  strcpy(copy, text);
  char *percent = strchr(copy, '%');
  uint32_t scope = 0;
  if (percent) {
    *percent = 0;
    if (parse_scope(percent + 1, &scope) < 0) return -EINVAL;
  }
  if (inet_pton(AF_INET6, copy, &address.v6.sin6_addr) != 1) return -EINVAL;
  address.any.sa_family = AF_INET6;
  set_endpoint(endpoint, &address);
  endpoint->port = port;
  endpoint->scope = scope;
  return 6;
}

static int set_up(struct tactus_datagram_socket *socket, const struct tactus_endpoint *local, int buffer_bytes) {
  union address address;
  socklen_t length = set_address(&address, socket->family, local);
  if (length == 0) return -EAFNOSUPPORT;
  // Without CAP_NET_ADMIN the buffer is bounded by net.core.rmem_max.
  if (setsockopt(socket->descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof buffer_bytes) < 0 &&
      setsockopt(socket->descriptor, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes) < 0) {
    return -errno;
  }
  int on = 1;
  if (setsockopt(socket->descriptor, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) < 0) return -errno;
  int off = 0;  // "::" takes IPv4 senders too, whatever net.ipv6.bindv6only says
  if (socket->family == AF_INET6 &&
      setsockopt(socket->descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) < 0) {
    return -errno;
  }
  return bind(socket->descriptor, &address.any, length) < 0 ? -errno : 0;
}

int tactus_datagram_open(
    int family, const struct tactus_endpoint *local, int buffer_bytes, struct tactus_datagram_socket **result) {
  struct tactus_datagram_socket *made = calloc(1, sizeof *made);
  if (!made) return -ENOMEM;
  made->family = family == 4 ? AF_INET : AF_INET6;
  made->descriptor = above_standard_streams(socket(made->family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  int error = made->descriptor < 0 ? -errno : set_up(made, local, buffer_bytes);
  if (error < 0) {
    tactus_datagram_close(made);
    return error;
  }
  for (int index = 0; index < TACTUS_DATAGRAM_BATCH; index++) {
    made->messages[index].msg_hdr.msg_name = &made->sources[index];
    made->messages[index].msg_hdr.msg_namelen = sizeof made->sources[index];
    made->messages[index].msg_hdr.msg_iov = &made->parts[index];
    made->messages[index].msg_hdr.msg_iovlen = 1;
    made->messages[index].msg_hdr.msg_control = &made->notes[index];
    made->messages[index].msg_hdr.msg_controllen = sizeof made->notes[index];
  }
  *result = made;
  return 0;
}

void tactus_datagram_close(struct tactus_datagram_socket *socket) {
  if (socket->descriptor >= 0) close(socket->descriptor);
  free(socket);
}

int tactus_datagram_descriptor(const struct tactus_datagram_socket *socket) { return socket->descriptor; }

int tactus_datagram_local(const struct tactus_datagram_socket *socket, struct tactus_endpoint *local) {
  union address address = {0};
  socklen_t length = sizeof address;
  if (getsockname(socket->descriptor, &address.any, &length) < 0) return -errno;
  set_endpoint(local, &address);
  return 0;
}

int tactus_datagram_buffer(const struct tactus_datagram_socket *socket) {
  int bytes = 0;
  socklen_t length = sizeof bytes;
  return getsockopt(socket->descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, &length) < 0 ? -errno : bytes;
}

long tactus_datagram_receive(struct tactus_datagram_socket *socket, void *bytes, size_t capacity, size_t size) {
  if (capacity > TACTUS_DATAGRAM_BATCH) return -EINVAL;
  // All this is the same from call to call, and 64 headers are 80 cache lines that a waking lane would have to fetch.
  if (bytes != socket->bytes || size != socket->size) {
    for (size_t index = 0; index < TACTUS_DATAGRAM_BATCH; index++) {
      socket->parts[index] = (struct iovec){.iov_base = (char *)bytes + index * size, .iov_len = size};
    }
    socket->bytes = bytes;
    socket->size = size;
  }
  // The kernel overwrites them with the lengths of each source address and of what it says besides.
  for (int index = 0; index < socket->used; index++) {
    socket->messages[index].msg_hdr.msg_namelen = sizeof socket->sources[index];
    socket->messages[index].msg_hdr.msg_controllen = sizeof socket->notes[index];
  }
  socket->used = 0;
  // MSG_TRUNC on the way in: msg_len is then the datagram's length, not that of the part that fitted.
  int count = recvmmsg(socket->descriptor, socket->messages, (unsigned)capacity, MSG_DONTWAIT | MSG_TRUNC, NULL);
  if (count >= 0) {
    socket->used = count;
    return count;
  }
  return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

size_t tactus_datagram_header(
    const struct tactus_datagram_socket *socket, size_t index, struct tactus_endpoint *source) {
  set_endpoint(source, &socket->sources[index]);
  return socket->messages[index].msg_len;
}

int64_t tactus_datagram_stamp(const struct tactus_datagram_socket *socket, size_t index) {
  const struct msghdr *message = &socket->messages[index].msg_hdr;
  struct cmsghdr *note = CMSG_FIRSTHDR(message);
  if (!note || note->cmsg_level != SOL_SOCKET || note->cmsg_type != SO_TIMESTAMPNS) return 0;
  struct timespec stamp;
  memcpy(&stamp, CMSG_DATA(note), sizeof stamp);
  return (int64_t)stamp.tv_sec * 1000000000 + stamp.tv_nsec;
}

long tactus_datagram_send(
    struct tactus_datagram_socket *socket, const struct tactus_endpoint *target, const void *bytes, size_t count) {
  union address address;
  socklen_t length = set_address(&address, socket->family, target);
  if (length == 0) return -EAFNOSUPPORT;
  ssize_t sent = sendto(socket->descriptor, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL, &address.any, length);
  return sent < 0 ? -errno : 0;
}

int64_t tactus_datagram_drops(const struct tactus_datagram_socket *socket) {
  uint32_t values[SK_MEMINFO_VARS] = {0};
  socklen_t length = sizeof values;
  if (getsockopt(socket->descriptor, SOL_SOCKET, SO_MEMINFO, values, &length) < 0) return -errno;
  return values[SK_MEMINFO_DROPS];
}
