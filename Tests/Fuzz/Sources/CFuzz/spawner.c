// The spawner's messages, as it and the daemon check them.
#include "CFuzz.h"
#include "spawner.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/// In one input: enough to define, seal and ask.
enum { MESSAGES = 16 };

static struct spawner_table table;

static void empty(void) {
  for (uint32_t index = 0; index < table.count; index++) {
    free(table.entries[index].text);
    // Not all of it: half a megabyte for each input.
    memset(&table.entries[index], 0, sizeof table.entries[index]);
  }
  table.count = 0;
  table.is_sealed = 0;
}

/// What a definition that was taken has to be.
static const char *flaw_of(const struct spawner_entry *entry) {
  if (entry->kind != SPAWNER_PROGRAM && entry->kind != SPAWNER_DEVICE) return "an entry is neither program nor device";
  if (!entry->words[0] || entry->words[0][0] != '/') return "a path is not absolute";
  if (entry->kind == SPAWNER_DEVICE && (entry->words[1] || entry->descriptors)) return "a device has more than a path";
  if (entry->descriptors > SPAWNER_DESCRIPTORS) return "more descriptors than fit into a message";
  const char *next = entry->text;
  size_t words = 0;
  for (; entry->words[words]; words++) {
    if (words > SPAWNER_ARGUMENTS) return "more words than there is room for";
    if (entry->words[words] != next) return "a word does not begin where the one before ends";
    next += strlen(next) + 1;
  }
  return NULL;
}

/// What a request that may be carried out has to be.
static const char *flaw_in(const struct spawner_head *head, uint32_t descriptors, size_t size) {
  if (head->kind == SPAWNER_PROGRAM || head->kind == SPAWNER_DEVICE) return flaw_of(&table.entries[table.count - 1]);
  if (size != sizeof *head) return "something is behind a head";
  if (head->kind == SPAWNER_SEAL) return table.is_sealed ? NULL : "a seal that does not seal";
  if (head->kind > SPAWNER_SIGNAL || head->entry >= table.count) return "a request outside of the table";
  const struct spawner_entry *entry = &table.entries[head->entry];
  if (entry->kind != (head->kind == SPAWNER_OPEN ? SPAWNER_DEVICE : SPAWNER_PROGRAM)) return "an entry of another kind";
  if (descriptors != (head->kind == SPAWNER_START ? entry->descriptors : 0)) return "descriptors that nobody expects";
  if (head->kind == SPAWNER_SIGNAL && head->value != SIGTERM && head->value != SIGKILL) return "another signal";
  return NULL;
}

const char *fuzz_spawner_requests(const uint8_t *bytes, size_t count) {
  empty();
  for (int messages = 0; messages < MESSAGES && count >= 2; messages++) {
    // A message: its length, and how many descriptors came with it.
    size_t size = bytes[0] < count - 2 ? bytes[0] : count - 2;
    uint32_t descriptors = bytes[1];
    // Of its own, so that a look behind its end is seen.
    uint8_t *message = malloc(size ? size : 1);
    if (!message) return NULL;
    memcpy(message, bytes + 2, size);
    bytes += 2 + size;
    count -= 2 + size;
    struct spawner_head head;
    uint32_t entries = table.count;
    int was_sealed = table.is_sealed, result = spawner_check(&table, message, size, descriptors, &head);
    free(message);
    const char *flaw = result > 0 ? "a result above 0" : result == 0 ? flaw_in(&head, descriptors, size) : NULL;
    if (table.count > SPAWNER_ENTRIES || table.count < entries) flaw = "an impossible table";
    if (table.count != entries && (was_sealed || result < 0)) flaw = "a definition after the seal, or of a refused message";
    if (was_sealed && !table.is_sealed) flaw = "a broken seal";
    if (flaw) return flaw;
  }
  return NULL;
}

const char *fuzz_spawner_reply(const uint8_t *bytes, size_t count) {
  if (count < 3) return NULL;
  uint32_t number = bytes[0], descriptors = bytes[1];
  int may_open = bytes[2] & 1;
  struct spawner_reply reply = {0};
  size_t size = count - 3;
  memcpy(&reply, bytes + 3, size < sizeof reply ? size : sizeof reply);
  int result = spawner_check_reply(&reply, size ? (ssize_t)size : -ETIMEDOUT, number, descriptors, may_open);
  if (result == -EPIPE) return NULL;
  if (size != sizeof reply || reply.number != number) return "another's reply is taken";
  if (reply.process < 0) return "a group of processes would be waited for";
  if (descriptors > 1 || (descriptors == 1 && (!may_open || result < 0))) return "a descriptor that nobody takes";
  return NULL;
}
