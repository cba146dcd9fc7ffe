/* Of Sources/Buses/Log/SharedWords.swift: store(number:from:) and load(into:), with their orderings (memory.pml).

   A value is two words, both its number. Holds: what a reader is given is whole and has the number that it is told; the numbers that one
   reader is told never go back. Each of these is rejected:
     BROKEN_WRITER_FENCE      no release fence after the odd number
     BROKEN_READER_FENCE      no acquire fence after the words
     BROKEN_PUBLISH_RELAXED   the even number is stored without release
     BROKEN_LOOK_RELAXED      the number is loaded without acquire
     BROKEN_NOT_ODD           the number is not odd while the value is replaced */

#define WRITES 4
#define READS 3
#define NUMBER 0
#define WORD(word) (1 + (word))
#define LOCATIONS 3
#define HISTORY (2 * WRITES + 1)
#define THREADS 2
#include "memory.pml"

#define WRITER 0
#define READER 1

#ifdef BROKEN_PUBLISH_RELAXED
#define store_number store_relaxed
#else
#define store_number store_release
#endif
#ifdef BROKEN_LOOK_RELAXED
#define load_number load_relaxed
#else
#define load_number load_acquire
#endif

proctype Writer() {
  byte number = 0;
  do
  :: number < WRITES ->
    number++;
#ifndef BROKEN_NOT_ODD
    store_relaxed(WRITER, NUMBER, 2 * number - 1);
#endif
#ifndef BROKEN_WRITER_FENCE
    fence_release(WRITER);
#endif
    store_relaxed(WRITER, WORD(0), number);
    store_relaxed(WRITER, WORD(1), number);
    store_number(WRITER, NUMBER, 2 * number)
  :: else -> break
  od
}

proctype Reader() {
  byte before = 0, after = 0, first = 0, second = 0, entry = 0, reads = 0, told = 0;
  do
  :: reads < READS ->
    reads++;
    load_number(READER, NUMBER, entry, before);
    if :: before == 0 || before % 2 == 1 -> goto none :: else fi;
    load_relaxed(READER, WORD(0), entry, first);
    load_relaxed(READER, WORD(1), entry, second);
#ifndef BROKEN_READER_FENCE
    fence_acquire(READER);
#endif
    load_relaxed(READER, NUMBER, entry, after);
    if
    :: after == before ->
      assert(first == before / 2 && second == before / 2);
      assert(before / 2 >= told);
      told = before / 2
    :: else
    fi;
none: skip
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
