// The tape of a lane that is recorded or replayed: what its ticks read and write, one entry after the other. While a tick
// of such a lane runs, its thread knows the tape.
#pragma once

enum { TACTUS_TAPE_RECORDS = 1, TACTUS_TAPE_REPLAYS = 2, TACTUS_TAPE_ENDED = 3 };  // after a difference, or at the tape's end

struct tactus_tape {
  uint8_t *start;     // the beginning of the part
  uint8_t *next;      // the place of the next entry
  uint8_t *end;       // the end of the room, or of what was recorded
  uint64_t part;      // raised whenever an entry may no longer refer to an earlier one
  int32_t mode;
  int32_t lost;       // entries that did not fit, or that were not those expected
  void *context;      // for the code that replays
};

// What stands before the bytes of an entry, which are filled up to a multiple of 8.
struct tactus_tape_entry {
  uint16_t kind;
  uint16_t flag;
  uint32_t count;
};

extern __thread struct tactus_tape *tactus_tape_of_thread __attribute__((tls_model("initial-exec")));

/// Returns the tape of the tick that this thread runs, or null.
TACTUS_REALTIME static inline struct tactus_tape *tactus_tape_current(void) { return tactus_tape_of_thread; }

/// Returns whether ticks that know the tape are replayed.
TACTUS_REALTIME static inline int32_t tactus_tape_replays(const struct tactus_tape *tape) {
  return tape->mode != TACTUS_TAPE_RECORDS;
}

/// Returns whether ticks that know the tape are replayed and what they read is still on it.
TACTUS_REALTIME static inline int32_t tactus_tape_goes_on(const struct tactus_tape *tape) {
  return tape->mode == TACTUS_TAPE_REPLAYS;
}

/// Makes `tape` the one of the ticks of this thread; null for none. Returns the one before.
TACTUS_REALTIME struct tactus_tape *tactus_tape_use(struct tactus_tape *tape);

/// Appends an entry. One that does not fit is counted as lost, and so are all after it.
TACTUS_REALTIME void tactus_tape_put(
    struct tactus_tape *tape, uint16_t kind, uint16_t flag, const void *bytes, uint32_t count);

/// Appends `bytes` as an entry with flag 2: what of them differs from the equally many at `base`, a bit for each word and then the words that do. Returns 0,
/// with nothing appended, if that takes more than half of the bytes.
TACTUS_REALTIME int32_t tactus_tape_put_changes(
    struct tactus_tape *tape, uint16_t kind, const void *base, const void *bytes, uint32_t count);

/// Restores the `count` bytes of an entry with flag 2 in `target`. Returns 0 if the entry does not describe a value of that length.
int32_t tactus_tape_apply(const struct tactus_tape_entry *entry, const void *base, void *target, uint32_t count);

/// Returns the entry that comes next, or null at the end of the tape or of an entry that is cut off.
TACTUS_REALTIME const struct tactus_tape_entry *tactus_tape_peek(const struct tactus_tape *tape);

/// Returns the bytes of an entry.
TACTUS_REALTIME static inline const void *tactus_tape_bytes(const struct tactus_tape_entry *entry) { return entry + 1; }

/// Goes on to the entry after the next one.
TACTUS_REALTIME void tactus_tape_skip(struct tactus_tape *tape);

/// Returns whether two pieces of memory hold the same bytes.
TACTUS_REALTIME static inline int32_t tactus_same(const void *one, const void *other, size_t count) {
  return __builtin_memcmp(one, other, count) == 0;
}

/// Copies bytes that another thread may be writing. Who calls it finds out afterwards whether one was, and then does not use them.
void tactus_copy_shared(void *target, const void *source, size_t count);

/// Opens a pipe by which `tactus_probe` asks the kernel. Returns 0 or −errno.
int32_t tactus_probe_open(int32_t ends[2]);

/// Returns whether a byte can be read at an address.
int32_t tactus_probe(const int32_t ends[2], uint64_t address);
