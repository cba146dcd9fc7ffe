/* Of Sources/Tactus/Mailboxes/Latest.swift: LatestWriter.write (and publishWords) and LatestReader.read, with their orderings (memory.pml).

   A value is two words, both its number. Holds: what a reader returns is whole, is the value of the number that it saw, and is never
   older than what it returned before; the slots it has when nothing was written yet are the initial value. One process reads twice.
   Each of these is rejected:
     BROKEN_WRITER_FENCE      no release fence before the words
     BROKEN_READER_FENCE      no acquire fence after the words
     BROKEN_PUBLISH_RELAXED   the sequence number is stored without release
     BROKEN_LOOK_RELAXED      the sequence number is loaded without acquire
     BROKEN_NO_SECOND_LOOK    the reader does not compare the sequence number again
     BROKEN_ONE_SLOT          the writer fills the slot that readers look at
   That a reader is not held up for ever is not shown: it looks again only when the writer has published meanwhile. */

#define WRITES 5
#define READS 3
#define SEQUENCE 0
#define WORD(slot, word) (1 + 2 * (slot) + (word))
#define LOCATIONS 5
#define HISTORY (WRITES + 1)
#define THREADS 2
#include "memory.pml"

#define WRITER 0
#define READER 1

#ifdef BROKEN_PUBLISH_RELAXED
#define store_sequence store_relaxed
#else
#define store_sequence store_release
#endif
#ifdef BROKEN_LOOK_RELAXED
#define load_sequence load_relaxed
#else
#define load_sequence load_acquire
#endif
#ifdef BROKEN_ONE_SLOT
#define SLOT(number) 0
#else
#define SLOT(number) ((number) & 1)
#endif

proctype Writer() {
  byte next = 0;
  do
  :: next < WRITES ->
    next++;
#ifndef BROKEN_WRITER_FENCE
    fence_release(WRITER);
#endif
    store_relaxed(WRITER, WORD(SLOT(next), 0), next);
    store_relaxed(WRITER, WORD(SLOT(next), 1), next);
    store_sequence(WRITER, SEQUENCE, next)
  :: else -> break
  od
}

proctype Reader() {
  byte seen = 0, again = 0, first = 0, second = 0, entry = 0, reads = 0, returned = 0;
  do
  :: reads < READS ->
    load_sequence(READER, SEQUENCE, entry, seen);
    load_relaxed(READER, WORD(SLOT(seen), 0), entry, first);
    load_relaxed(READER, WORD(SLOT(seen), 1), entry, second);
#ifndef BROKEN_READER_FENCE
    fence_acquire(READER);
#endif
#ifndef BROKEN_NO_SECOND_LOOK
    load_relaxed(READER, SEQUENCE, entry, again);
    if :: again != seen -> goto moved :: else fi;
#endif
    assert(first == seen && second == seen);
    assert(seen >= returned);
    returned = seen;
    reads++;
moved: skip
  :: else -> break
  od
}

init {
  byte location;
  atomic {
    for (location : 0 .. LOCATIONS - 1) { initialise(location, 0) }
    location = 0;
    run Writer();
    run Reader()
  }
}
