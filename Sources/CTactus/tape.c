#define _GNU_SOURCE
#include "CTactus.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

__thread struct tactus_tape *tactus_tape_of_thread;

static size_t filled(uint32_t count) { return ((size_t)count + 7) & ~(size_t)7; }

struct tactus_tape *tactus_tape_use(struct tactus_tape *tape) {
  struct tactus_tape *before = tactus_tape_of_thread;
  tactus_tape_of_thread = tape;
  return before;
}

void tactus_tape_put(struct tactus_tape *tape, uint16_t kind, uint16_t flag, const void *bytes, uint32_t count) {
  size_t size = sizeof(struct tactus_tape_entry) + filled(count);
  if (tape->lost || (size_t)(tape->end - tape->next) < size) {
    tape->lost++;
    return;
  }
  struct tactus_tape_entry entry = {.kind = kind, .flag = flag, .count = count};
  memcpy(tape->next, &entry, sizeof entry);
  // Most entries are a few words: the loop is faster than a call.
  uint64_t *target = (uint64_t *)(tape->next + sizeof entry);
  const uint8_t *source = bytes;
  if (count <= 128) {
    for (; count >= 8; count -= 8, source += 8) memcpy(target++, source, 8);
  } else {
    memcpy(target, source, count & ~7u);
    target += count / 8;
    source += count & ~7u;
    count &= 7;
  }
  if (count > 0) {
    uint64_t rest = 0;
    for (uint32_t byte = 0; byte < count; byte++) rest |= (uint64_t)source[byte] << (8 * byte);
    *target = rest;
  }
  tape->next += size;
}

int32_t tactus_tape_put_changes(
    struct tactus_tape *tape, uint16_t kind, const void *base, const void *bytes, uint32_t count) {
  size_t words = count / 8, masks = (words + 63) / 64, most = count / 2;
  if (masks * 8 + 8 > most) return 0;
  if (tape->lost || (size_t)(tape->end - tape->next) < sizeof(struct tactus_tape_entry) + most) return 0;
  uint8_t *mask = tape->next + sizeof(struct tactus_tape_entry);
  size_t used = masks * 8;
  for (size_t group = 0; group < masks; group++) {
    uint64_t changed = 0;
    size_t last = words - group * 64 < 64 ? words - group * 64 : 64;
    for (size_t bit = 0; bit < last; bit++) {
      uint64_t before, now;
      memcpy(&before, (const uint8_t *)base + (group * 64 + bit) * 8, 8);
      memcpy(&now, (const uint8_t *)bytes + (group * 64 + bit) * 8, 8);
      if (before == now) continue;
      if (used + 8 > most) return 0;
      changed |= (uint64_t)1 << bit;
      memcpy(mask + used, &now, 8);
      used += 8;
    }
    memcpy(mask + group * 8, &changed, 8);
  }
  // What is left behind the last whole word is always there.
  if (count % 8) {
    if (used + 8 > most) return 0;
    uint64_t rest = 0;
    memcpy(&rest, (const uint8_t *)bytes + words * 8, count % 8);
    memcpy(mask + used, &rest, 8);
    used += 8;
  }
  struct tactus_tape_entry entry = {.kind = kind, .flag = 2, .count = (uint32_t)used};
  memcpy(tape->next, &entry, sizeof entry);
  tape->next += sizeof entry + used;
  return 1;
}

int32_t tactus_tape_apply(const struct tactus_tape_entry *entry, const void *base, void *target, uint32_t count) {
  size_t words = count / 8, masks = (words + 63) / 64, used = masks * 8;
  if (entry->count < used) return 0;
  const uint8_t *mask = tactus_tape_bytes(entry);
  memcpy(target, base, count);
  for (size_t word = 0; word < words; word++) {
    uint64_t changed;
    memcpy(&changed, mask + word / 64 * 8, 8);
    if (!(changed >> word % 64 & 1)) continue;
    if (used + 8 > entry->count) return 0;
    memcpy((uint8_t *)target + word * 8, mask + used, 8);
    used += 8;
  }
  if (count % 8) {
    if (used + 8 > entry->count) return 0;
    memcpy((uint8_t *)target + words * 8, mask + used, count % 8);
    used += 8;
  }
  return used == entry->count;
}

const struct tactus_tape_entry *tactus_tape_peek(const struct tactus_tape *tape) {
  size_t left = (size_t)(tape->end - tape->next);
  if (left < sizeof(struct tactus_tape_entry)) return 0;
  const struct tactus_tape_entry *entry = (const struct tactus_tape_entry *)tape->next;
  return left - sizeof *entry < filled(entry->count) ? 0 : entry;
}

void tactus_tape_skip(struct tactus_tape *tape) {
  const struct tactus_tape_entry *entry = tactus_tape_peek(tape);
  if (entry) tape->next += sizeof *entry + filled(entry->count);
}

__attribute__((no_sanitize("thread"), noinline))
void tactus_copy_shared(void *target, const void *source, size_t count) {
  const volatile uint64_t *from = source;
  uint64_t *to = target;
  for (size_t word = 0; word < count / 8; word++) to[word] = from[word];
}

int32_t tactus_probe_open(int32_t ends[2]) {
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK) < 0) return -errno;
  ends[0] = pipes[0];
  ends[1] = pipes[1];
  return 0;
}

int32_t tactus_probe(const int32_t ends[2], uint64_t address) {
  // The kernel reads the byte and returns EFAULT if none is there. A confined process can ask this way, since no file is opened.
  char byte;
  if (write(ends[1], (const void *)(uintptr_t)address, 1) != 1) return 0;
  return read(ends[0], &byte, 1) == 1;
}
