/* Of Sources/Tactus/Mailboxes/Doorbell.swift and its use (LoopEnds, Service's Channel): writers push before they ring, the reader
   clears the bell before it reads.

   The bell is an eventfd: ring adds to a count, wait lasts until it is not 0, clear sets it to 0, each in one step. Two writers with a ring
   each share the bell. Holds: whatever was pushed is taken, if the reader is ever given the processor; the reader never sleeps while
   anything waits and nobody is about to ring. Each of these is rejected:
     BROKEN_RING_FIRST        a writer rings before it pushes
     BROKEN_CLEAR_LAST        the reader reads before it clears
     BROKEN_TAKES_ONE         the reader takes one element for each wake-up
   Between a push and the loads after `clear` no orderings are modelled: the kernel's lock around an eventfd's count orders them. */

#define PUSHES 3
#define WRITERS 2

byte waiting[WRITERS];  /* In each ring. */
byte taken = 0;
byte bell = 0;
bool asleep = false;

inline push(ring) { waiting[ring]++ }
inline ring_bell() { bell++ }
inline wait_bell() { atomic { asleep = true; bell > 0; asleep = false } }
inline clear_bell() { bell = 0 }

inline take(ring) {
  do
  :: atomic { waiting[ring] > 0 -> waiting[ring]--; taken++ }
#ifdef BROKEN_TAKES_ONE
    break
#endif
  :: atomic { waiting[ring] == 0 -> break }
  od
}

active [WRITERS] proctype Writer() {
  byte pushed = 0;
  do
  :: pushed < PUSHES ->
    pushed++;
#ifdef BROKEN_RING_FIRST
    ring_bell();
    push(_pid)
#else
    push(_pid);
    ring_bell()
#endif
  :: else -> break
  od
}

active proctype Reader() {
  do
  :: taken < WRITERS * PUSHES ->
    wait_bell();
#ifdef BROKEN_CLEAR_LAST
    take(0);
    take(1);
    clear_bell()
#else
    clear_bell();
    take(0);
    take(1)
#endif
  :: else -> break
  od
}

ltl all_is_taken { <> (taken == WRITERS * PUSHES) }
