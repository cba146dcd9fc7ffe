/* Of Sources/Tactus/Mailboxes/Ring.swift: RingWriter.push and RingReader.pop, with their orderings (memory.pml).

   Elements are plain memory: an access that no release and acquire orders after the last one of the other thread is a data race.
   Holds: no race; the reader has every element that was not refused, once, whole and in order; the ring holds at most its capacity.
   Each of these is rejected:
     BROKEN_PUBLISH_RELAXED   the writer's index is stored without release
     BROKEN_LOOK_RELAXED      the reader loads that index without acquire
     BROKEN_FREE_RELAXED      the reader's index is stored without release
     BROKEN_FULL_RELAXED      the writer loads that index without acquire
     BROKEN_PUBLISH_FIRST     the index is published before the element
     BROKEN_CAPACITY          a full ring takes one more
   Indices here end after PUSHES; in the ring they wrap around after 2⁶³. */

#define CAPACITY 2
#define PUSHES 6
#define WRITTEN 0
#define READ 1
#define ELEMENT(slot) (2 + (slot))
/* Counts the reader's accesses to a slot, so that the writer can be asked whether it comes after them. */
#define ACCESS(slot) (2 + CAPACITY + (slot))
#define LOCATIONS (2 + 2 * CAPACITY)
#define HISTORY (PUSHES + 1)
#define THREADS 2
#include "memory.pml"

#define WRITER 0
#define READER 1
#define ISORDERED(thread, location) (threads[thread].now.seen[location] == NEWEST(location))

#ifdef BROKEN_PUBLISH_RELAXED
#define store_written store_relaxed
#else
#define store_written store_release
#endif
#ifdef BROKEN_LOOK_RELAXED
#define load_written load_relaxed
#else
#define load_written load_acquire
#endif
#ifdef BROKEN_FREE_RELAXED
#define store_read store_relaxed
#else
#define store_read store_release
#endif
#ifdef BROKEN_FULL_RELAXED
#define load_read load_relaxed
#else
#define load_read load_acquire
#endif
#ifdef BROKEN_CAPACITY
#define MASK CAPACITY
#else
#define MASK (CAPACITY - 1)
#endif

inline write_element(value) {
  assert(ISORDERED(WRITER, ACCESS(index % CAPACITY)));
  store_relaxed(WRITER, ELEMENT(index % CAPACITY), value)
}

/* RingWriter.push, until the ring has taken it. A refusal is told, and the caller tries again. */
proctype Writer() {
  byte index = 0, read_seen = 0, entry = 0;
  do
  :: index < PUSHES ->
    if
    :: index - read_seen > MASK ->
      load_read(WRITER, READ, entry, read_seen);
      if :: index - read_seen > MASK -> goto refused :: else fi
    :: else
    fi;
#ifdef BROKEN_PUBLISH_FIRST
    store_written(WRITER, WRITTEN, index + 1);
    write_element(index + 1);
    index++;
#else
    write_element(index + 1);
    index++;
    store_written(WRITER, WRITTEN, index);
#endif
refused: skip
  :: else -> break
  od
}

/* RingReader.pop, until all have been taken. */
proctype Reader() {
  byte index = 0, written_seen = 0, entry = 0, element = 0;
  do
  :: index < PUSHES ->
    if
    :: index == written_seen ->
      load_written(READER, WRITTEN, entry, written_seen);
      if :: index == written_seen -> goto nothing :: else fi
    :: else
    fi;
    atomic {
      assert(ISORDERED(READER, ELEMENT(index % CAPACITY)));
      element = locations[ELEMENT(index % CAPACITY)].entries[NEWEST(ELEMENT(index % CAPACITY))].value;
      store_relaxed(READER, ACCESS(index % CAPACITY), 0)
    }
    assert(element == index + 1);
    assert(NEWEST(WRITTEN) - index <= CAPACITY);
    index++;
    store_read(READER, READ, index);
nothing: skip
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
