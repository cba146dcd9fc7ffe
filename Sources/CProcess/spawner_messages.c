// What comes over the spawner's socket: every byte of it is checked here, against a table that no request can change once it is sealed.
#define _GNU_SOURCE
#include "spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// Parses at most `most` texts that each end with a zero, with no bytes after the last. Returns 0 or −errno.
static int take_words(struct spawner_entry *entry, const char *bytes, size_t size, size_t most) {
  if (size == 0 || bytes[0] != '/' || bytes[size - 1] != 0) return -EINVAL;
  size_t words = 0;
  for (size_t index = 0; index < size; index++) words += bytes[index] == 0;
  if (words > most) return -E2BIG;
  entry->text = malloc(size);
  if (!entry->text) return -ENOMEM;
  memcpy(entry->text, bytes, size);
  char *next = entry->text;
  for (size_t word = 0; word < words; word++) {
    entry->words[word] = next;
    next += strlen(next) + 1;
  }
  entry->words[words] = NULL;
  return 0;
}

static int define(struct spawner_table *table, const struct spawner_head *head, const char *bytes, size_t size) {
  if (table->is_sealed) return -EPERM;
  if (table->count == SPAWNER_ENTRIES) return -ENOSPC;
  if (head->entry != table->count) return -EINVAL;
  int is_program = head->kind == SPAWNER_PROGRAM;
  if (is_program ? head->value < PROCESS_STREAMS_SHARED || head->value > PROCESS_STREAMS_NONE || head->descriptors > SPAWNER_DESCRIPTORS
                 : (head->value & ~(O_ACCMODE | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) != 0 || head->descriptors != 0) {
    return -EINVAL;
  }
  struct spawner_entry *entry = &table->entries[table->count];
  int taken = take_words(entry, bytes, size, is_program ? SPAWNER_ARGUMENTS + 1 : 1);
  if (taken < 0) return taken;
  entry->kind = head->kind;
  entry->value = head->value;
  entry->descriptors = head->descriptors;
  entry->process = -1;
  table->count++;
  return 0;
}

int spawner_check(
    struct spawner_table *table, const void *bytes, size_t size, uint32_t descriptors, struct spawner_head *head) {
  memset(head, 0, sizeof *head);
  if (size < sizeof *head) return -EBADMSG;
  memcpy(head, bytes, sizeof *head);
  const char *rest = (const char *)bytes + sizeof *head;
  size -= sizeof *head;
  if (head->kind == SPAWNER_PROGRAM || head->kind == SPAWNER_DEVICE) {
    return descriptors ? -EINVAL : define(table, head, rest, size);
  }
  // Nothing else has anything behind its head.
  if (size != 0) return -EBADMSG;
  uint32_t expected = 0;
  if (head->kind == SPAWNER_SEAL) {
    if (head->entry != 0 || head->value != 0) return -EINVAL;
  } else {
    if (head->kind < SPAWNER_START || head->kind > SPAWNER_SIGNAL) return -ENOSYS;
    if (head->entry >= table->count) return -EPERM;
    const struct spawner_entry *entry = &table->entries[head->entry];
    if (entry->kind != (head->kind == SPAWNER_OPEN ? SPAWNER_DEVICE : SPAWNER_PROGRAM)) return -EPERM;
    int is_signal = head->value == SIGTERM || head->value == SIGKILL;
    if (head->kind == SPAWNER_SIGNAL ? !is_signal : head->value != 0) return -EINVAL;
    if (head->kind == SPAWNER_START) expected = entry->descriptors;
  }
  if (head->descriptors != expected || descriptors != expected) return -EINVAL;
  if (head->kind == SPAWNER_SEAL) table->is_sealed = 1;
  return 0;
}

int spawner_check_reply(
    const struct spawner_reply *reply, ssize_t size, uint32_t number, uint32_t descriptors, int may_open) {
  if (size != sizeof *reply || reply->number != number || descriptors > (may_open ? 1u : 0u)) return -EPIPE;
  // A refusal opens nothing.
  if (reply->result < 0 && descriptors > 0) return -EPIPE;
  // Whom the daemon waits for: a child, never a group of them.
  if (reply->process < 0) return -EPIPE;
  return reply->result == -EPIPE ? -EIO : reply->result;
}

int spawner_send(int socket, const void *bytes, size_t size, const int *descriptors, uint32_t count) {
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = size};
  union {
    struct cmsghdr aligned;
    char bytes[CMSG_SPACE(SPAWNER_DESCRIPTORS * sizeof(int))];
  } room = {0};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (count > SPAWNER_DESCRIPTORS) return -E2BIG;
  if (count > 0) {
    message.msg_control = room.bytes;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(header), descriptors, count * sizeof(int));
  }
  ssize_t sent;
  do sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent < 0 ? -errno : 0;
}

ssize_t spawner_receive(int socket, void *bytes, size_t size, int descriptors[SPAWNER_DESCRIPTORS], uint32_t *count) {
  struct iovec part = {.iov_base = bytes, .iov_len = size};
  union {
    struct cmsghdr aligned;
    char bytes[CMSG_SPACE(SPAWNER_DESCRIPTORS * sizeof(int))];
  } room;
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof room.bytes};
  *count = 0;
  ssize_t received;
  do received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (received < 0 && errno == EINTR);
  if (received < 0) return -errno;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    uint32_t found = (uint32_t)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    for (uint32_t index = 0; index < found; index++) {
      int descriptor;
      memcpy(&descriptor, CMSG_DATA(header) + index * sizeof(int), sizeof descriptor);
      if (*count < SPAWNER_DESCRIPTORS) descriptors[(*count)++] = descriptor;
      else close(descriptor);
    }
  }
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0) return received;
  while (*count > 0) close(descriptors[--*count]);
  return -EMSGSIZE;
}
