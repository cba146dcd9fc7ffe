// The spawner's messages, for both of its ends. A request is one message of a SOCK_SEQPACKET socket: this head, and for the definitions what
// follows it.
#pragma once
#include "CProcess.h"

#include <stdint.h>
#include <sys/types.h>

enum spawner_kind {
  /// A definition of a program, before the table is sealed. `entry` is the next free entry, `value` is of enum process_streams, and
  /// `descriptors` is the number of descriptors that the program gets. The head is followed by the path and the arguments, each
  /// with its final zero.
  SPAWNER_PROGRAM = 1,
  /// A definition of a device, before the table is sealed. `entry` is the next free entry and `value` holds the flags of open(2).
  /// The head is followed by the path with its final zero.
  SPAWNER_DEVICE,
  /// Seals the table: no definition is accepted from here on.
  SPAWNER_SEAL,
  /// Starts program `entry` with the descriptors that came with the message.
  SPAWNER_START,
  /// Opens device `entry`. The descriptor comes with the reply.
  SPAWNER_OPEN,
  /// Sends signal `value`, SIGTERM or SIGKILL, to the newest process of program `entry`.
  SPAWNER_SIGNAL,
};

enum {
  SPAWNER_ENTRIES = 128,
  /// The greatest number of descriptors in one message: a guard's socket and the descriptors that it inherits, one for each group
  /// of GPIO lines. The kernel's limit is 253.
  SPAWNER_DESCRIPTORS = 200,
  SPAWNER_ARGUMENTS = 512,
  /// The greatest number of bytes in one message.
  SPAWNER_SIZE = 32 << 10,
  /// The descriptors of the two spawners' sockets: that of the active one and that of the standby.
  SPAWNER_SOCKET = 3,
  SPAWNER_SECOND_SOCKET = 4,
  SPAWNERS = 2,
};

struct spawner_head {
  /// The number of the request, which is returned in its reply.
  uint32_t number;
  /// The kind of the request, of enum spawner_kind.
  uint32_t kind;
  uint32_t entry;
  int32_t value;
  uint32_t descriptors;
};

struct spawner_reply {
  uint32_t number;
  /// The result: 0 or more, or −errno.
  int32_t result;
  /// The process that was started, or 0 if none could be started. The daemon has to reap it even if it could not become its program.
  int32_t process;
};

struct spawner_entry {
  /// The kind of the definition, SPAWNER_PROGRAM or SPAWNER_DEVICE, or 0 for a free entry.
  uint32_t kind;
  int32_t value;
  uint32_t descriptors;
  /// The device's path, or the program's path and arguments, followed by NULL. The pointers point into `text`.
  char *words[SPAWNER_ARGUMENTS + 2];
  char *text;
  /// The pidfd of the newest process of the program, or −1 if the program has no process.
  int process;
};

struct spawner_table {
  struct spawner_entry entries[SPAWNER_ENTRIES];
  uint32_t count;
  int is_sealed;
};

/// Checks a request of `size` bytes that came with `descriptors` descriptors against the table, and adds a definition to the table.
/// Has no other effect. Returns 0 for a request that may be carried out, or −errno.
int spawner_check(struct spawner_table *table, const void *bytes, size_t size, uint32_t descriptors, struct spawner_head *head);

/// Checks received data for a reply to request `number`. `size` is its number of bytes, or −errno; it came with `descriptors`
/// descriptors, of which there may be one if `may_open` is set. Returns the result of the reply, 0 or more, or −errno. Returns
/// −EPIPE if the data is not that reply; its descriptors then have to be closed.
int spawner_check_reply(
    const struct spawner_reply *reply, ssize_t size, uint32_t number, uint32_t descriptors, int may_open);

/// Sends a message with descriptors. Returns 0 or −errno.
int spawner_send(int socket, const void *bytes, size_t size, const int *descriptors, uint32_t count);
/// Receives a message. Returns its size, 0 at the end, −EMSGSIZE for a message that is longer than `size` or has more than
/// SPAWNER_DESCRIPTORS descriptors, which are closed, or another −errno.
ssize_t spawner_receive(int socket, void *bytes, size_t size, int descriptors[SPAWNER_DESCRIPTORS], uint32_t *count);
