/* Of Sources/TactusGuard/Guard/GuardMachine.swift (step, take, fault(of:at:), look, end) as GuardProcess.listen drives it, and of
   HeartbeatSender.send: how one guard judges the heartbeats of a program that it need not be able to keep up with.

   Time is counted in heartbeats: due at every instant from 1 on, SHORTEST half of that (two in a row are never due at the same instant), LONGEST
   the time-out. A sender sends in time, or is held up for less than the time-out; it may stop for ever. A guard that is held up finds
   heartbeats waiting: it reads before it looks at the clock. Holds:
     no_false_trip   as long as the sender sends in time nothing is written, however long the guard is held up
     silence         a sender that stops has the safe state written
   Each of these is rejected:
     BROKEN_OWN_CLOCK         the guard judges by the instant at which it reads a heartbeat
     BROKEN_CLOCK_FIRST       the guard looks at the clock before it has read what waits
     BROKEN_DEADLINE_MOVES    a look at the clock counts as a heartbeat
   Loops inside a heartbeat, `asked`, and writes that fail are Tests/TactusGuardTests/GuardMachineTests.swift's. */

#define END 9
#define LONGEST 3
#define WAITING 10

chan socket = [WAITING] of { byte, byte, byte };  /* number, due, sent */
byte now = 0;
byte last_sent = 0;
bool stopped = false;
bool written = false;
bool late = false;  /* The sender was. */

/* Time passes unless the sender would be late by it. */
active proctype Clock() {
end:
  do
  :: atomic { now < END && (stopped || now - last_sent < LONGEST - 1) -> now++ }
  od
}

active proctype Sender() {
  byte number = 0, due = 1;
end:
  do
  :: atomic {
      now >= due && nfull(socket) && !stopped ->
      /* The newest in phase; those that were missed are given up. */
      due = now;
      number++;
      last_sent = now;
      socket!number, due, now;
      due = due + 1
    }
  :: atomic { !stopped -> stopped = true }
  od
}

active proctype Guard() {
  byte heard = 0, number = 0, due = 0, sent = 0, last_number = 0, last_due = 0, last_instant = 0;
end:
  do
#ifdef BROKEN_CLOCK_FIRST
  :: atomic { now - heard >= LONGEST -> break }
#endif
  :: atomic {
      socket?number, due, sent ->
      if
      :: sent < due || sent > now -> break                                  /* early */
      :: else
      fi;
      if
      :: last_number > 0 && number != last_number + 1 -> break               /* repeated, out of order */
      :: last_number > 0 && (due - last_due < 1 || sent < last_instant) -> break  /* early */
      :: else
      fi;
      last_number = number;
      last_due = due;
      last_instant = sent;
#ifdef BROKEN_OWN_CLOCK
      if :: now - heard > LONGEST -> break :: else fi;
      heard = now;
#else
      if :: sent - heard > LONGEST -> break :: else fi;
      heard = sent;
#endif
      number = 0; due = 0; sent = 0
    }
  :: atomic {
      empty(socket) && now - heard >= LONGEST ->
#ifdef BROKEN_DEADLINE_MOVES
      heard = now
#else
      break
#endif
    }
  od;
  assert(stopped);
  written = true
}

ltl silence { [] (now - last_sent >= LONGEST -> <> written) }
