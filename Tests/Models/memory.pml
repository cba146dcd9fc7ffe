/* C11's release, acquire and relaxed accesses for locations that one thread each writes, as views (the promise-free machine of Kang et
   al., "A promising semantics for relaxed-memory concurrency", POPL 2017). A store appends to its location's history; a load takes
   any entry that is not older than what its thread has seen of the location. So a relaxed store is seen late, and out of order
   with other locations', where no release and acquire forbids it.

   A model defines LOCATIONS, HISTORY (entries of each, the initial one counted) and THREADS before it includes this. */

typedef View { byte seen[LOCATIONS] };
typedef Entry { byte value; View carried };
typedef Location { Entry entries[HISTORY]; byte count };
typedef Thread { View now; View acquired; View released };

Location locations[LOCATIONS];
Thread threads[THREADS];

byte every;  /* Used only inside d_step. */

#define JOIN(into, from) \
  for (every : 0 .. LOCATIONS - 1) { \
    if :: into.seen[every] < from.seen[every] -> into.seen[every] = from.seen[every] :: else fi \
  } \
  every = 0

#define COPY(into, from) \
  for (every : 0 .. LOCATIONS - 1) { into.seen[every] = from.seen[every] } \
  every = 0

#define NEWEST(location) (locations[location].count - 1)

inline initialise(location, first) {
  locations[location].entries[0].value = first;
  locations[location].count = 1
}

/* What the message of a store carries: all that its thread knows, or what it knew at its last release fence. */
inline append(thread, location, stored, carrying) {
  d_step {
    assert(locations[location].count < HISTORY);
    threads[thread].now.seen[location] = locations[location].count;
    locations[location].entries[locations[location].count].value = stored;
    COPY(locations[location].entries[locations[location].count].carried, carrying);
    locations[location].entries[locations[location].count].carried.seen[location] = locations[location].count;
    locations[location].count++
  }
}

inline store_relaxed(thread, location, stored) { append(thread, location, stored, threads[thread].released) }
inline store_release(thread, location, stored) { append(thread, location, stored, threads[thread].now) }

/* `entry` is the thread's own variable: which entry it takes. */
inline choose(thread, location, entry) {
  entry = threads[thread].now.seen[location];
  do
  :: entry < NEWEST(location) -> entry++
  :: break
  od
}

inline load_relaxed(thread, location, entry, loaded) {
  atomic {
    choose(thread, location, entry);
    d_step {
      threads[thread].now.seen[location] = entry;
      JOIN(threads[thread].acquired, locations[location].entries[entry].carried);
      loaded = locations[location].entries[entry].value;
      entry = 0
    }
  }
}

inline load_acquire(thread, location, entry, loaded) {
  atomic {
    choose(thread, location, entry);
    d_step {
      threads[thread].now.seen[location] = entry;
      JOIN(threads[thread].acquired, locations[location].entries[entry].carried);
      JOIN(threads[thread].now, locations[location].entries[entry].carried);
      loaded = locations[location].entries[entry].value;
      entry = 0
    }
  }
}

inline fence_release(thread) { d_step { COPY(threads[thread].released, threads[thread].now) } }
inline fence_acquire(thread) { d_step { JOIN(threads[thread].now, threads[thread].acquired) } }
