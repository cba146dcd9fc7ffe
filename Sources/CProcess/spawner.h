// The spawner's messages, for both of its ends. A request is one message of a SOCK_SEQPACKET socket: this head, and for the definitions what
// follows it.
#pragma once
#include "CProcess.h"

#include <stdint.h>
#include <sys/types.h>

enum spawner_kind {
  /// Before the table is sealed: entry `entry`, the next free one, is a program. `value`: of enum process_streams; `descriptors`: how many it
  /// is handed. Behind the head its path and its arguments, each with its final zero.
  SPAWNER_PROGRAM = 1,
  /// Before the table is sealed: entry `entry`, the next free one, is a device. `value`: the flags of open(2). Behind the head its path with
  /// its final zero.
  SPAWNER_DEVICE,
  /// No definition is accepted from here on.
  SPAWNER_SEAL,
  /// Starts program `entry` with the descriptors that came with the message.
  SPAWNER_START,
  /// Opens device `entry`: the descriptor comes with the reply.
  SPAWNER_OPEN,
  /// Sends signal `value`, SIGTERM or SIGKILL, to the process that program `entry` was started as last.
  SPAWNER_SIGNAL,
};

enum {
  SPAWNER_ENTRIES = 128,
  /// Descriptors of one message: a guard's socket, and what it inherits, one for each group of GPIO lines. The kernel takes 253.
  SPAWNER_DESCRIPTORS = 200,
  SPAWNER_ARGUMENTS = 512,
  /// Bytes of one message.
  SPAWNER_SIZE = 32 << 10,
  /// Where the two spawners find their sockets: the one that serves, and the one that stands by for it.
  SPAWNER_SOCKET = 3,
  SPAWNER_SECOND_SOCKET = 4,
  SPAWNERS = 2,
};

struct spawner_head {
  /// Of the request, given back in its reply.
  uint32_t number;
  /// Of enum spawner_kind.
  uint32_t kind;
  uint32_t entry;
  int32_t value;
  uint32_t descriptors;
};

struct spawner_reply {
  uint32_t number;
  /// 0 or more, or −errno.
  int32_t result;
  /// The process that was started, or 0 if there is none. The daemon has to reap it even when it could not become its program.
  int32_t process;
};

struct spawner_entry {
  /// The definition: SPAWNER_PROGRAM or SPAWNER_DEVICE; 0 for a free entry.
  uint32_t kind;
  int32_t value;
  uint32_t descriptors;
  /// The device's path, or the program's path and arguments, and NULL: they point into `text`.
  char *words[SPAWNER_ARGUMENTS + 2];
  char *text;
  /// The pidfd of the process that was started last, or −1 if there is none.
  int process;
};

struct spawner_table {
  struct spawner_entry entries[SPAWNER_ENTRIES];
  uint32_t count;
  int is_sealed;
};

/// Checks a request of `size` bytes that came with `descriptors` descriptors against the table, and takes a definition into it. Does nothing
/// else. Returns 0 for a request that may be carried out, or −errno.
int spawner_check(struct spawner_table *table, const void *bytes, size_t size, uint32_t descriptors, struct spawner_head *head);

/// Checks what was received for a reply to request `number`: `size` bytes, or −errno, with `descriptors` descriptors, of which there may be one
/// if `may_open`. Returns its result, 0 or more, or −errno; −EPIPE if it is not that reply, and its descriptors are to be closed.
int spawner_check_reply(
    const struct spawner_reply *reply, ssize_t size, uint32_t number, uint32_t descriptors, int may_open);

/// Sends a message with descriptors. Returns 0 or −errno.
int spawner_send(int socket, const void *bytes, size_t size, const int *descriptors, uint32_t count);
/// Receives one: its size, 0 at the end, −EMSGSIZE for one that is longer than `size` or has more than SPAWNER_DESCRIPTORS descriptors, which
/// are closed, −errno.
ssize_t spawner_receive(int socket, void *bytes, size_t size, int descriptors[SPAWNER_DESCRIPTORS], uint32_t *count);
