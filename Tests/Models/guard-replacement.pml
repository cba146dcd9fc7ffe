/* Of Sources/TactusGuard/Guard/GuardLink.swift (replace, kill, hasEnded, start, dismiss), GuardProcess.run, GuardMachine's death, lapse and
   dismissal, and Sources/TactusDaemon: Guard/GuardKeeper.swift, Guard/GuardLossMachine.swift, Run/Daemon.swift (stop). A daemon that drives
   outputs, its guard, the guard's successors, and what may happen to all of them. A daemon that has no guard stops its outputs and tries again;
   here it ends, which leaves out the trying.

   At any instant the daemon may be killed, or stopped and continued; a guard may be killed, or hang and go on; a write may fail and is
   repeated. Time-outs are choices: one that is due may be served at any instant. Holds:
     (assertions)     two guards never write at once; no guard writes when the daemon has dismissed it and seen it end
     killed_daemon    a daemon that is killed while its guard works leaves the outputs safe
     stopped_daemon   so does one that is stopped for ever
     hanging_guard    a guard that hangs is replaced, or goes on, or the daemon ends, unless that is stopped itself
     dismissal        a guard is dismissed only when the outputs are safe
   Each of these is rejected:
     BROKEN_NOT_REAPED        the successor is started when the old guard has been sent SIGKILL, not when it has ended
     BROKEN_NOT_AWAITED       the daemon dismisses its guard and does not wait for its end
     BROKEN_DISMISSED_FIRST   the daemon dismisses its guard before its outputs are safe
     BROKEN_DEAF_TO_DEATH     a guard takes a closed socket for silence that ends
     BROKEN_DEAF_TO_SILENCE   a guard waits for a heartbeat for ever
     BROKEN_NO_ANSWERS        the daemon sees a guard that has died, not one that hangs
   Not shown: both gone at once (nobody writes: the stop hook's and the watchdog's case); a guard that hangs in the middle of a write for
   longer than the two seconds that `dismiss` waits (it ends that write when it goes on); what the daemon does after it was continued;
   how long anything takes. */

#define GUARDS 3

mtype = { running, stopped, dead };
mtype daemon = running;
bool safe = true;
bool stopping = false;
bool dismissed = false;  /* The dismissal is in the guard's socket. */
bool left = false;       /* The daemon has seen it end: the outputs may be another program's. */
byte guard = 0;          /* The newest. */
byte writers = 0;        /* Guards that are in a write. */
byte guard_faults = 2;   /* That many may still come. */
bool started[GUARDS];
bool killed[GUARDS];     /* SIGKILL was sent; it ends at its next step. */
bool ended[GUARDS];
bool hung[GUARDS];

#ifdef BROKEN_NO_ANSWERS
#define TROUBLE ended[guard]
#else
/* No answer, which a guard that writes owes, too. */
#define TROUBLE (ended[guard] || hung[guard] || writers > 0)
#endif
#define WORKS(number) (started[number] && !killed[number] && !hung[number] && !ended[number])
#define ISCLOSED (daemon == dead)

proctype Guard(byte me) {
  bool death;
end:
  do
  :: killed[me] -> goto ends
  /* For a while, and for ever. */
  :: atomic { !killed[me] && guard_faults > 0 -> guard_faults--; hung[me] = true };
    hung[me] = false
  :: atomic { !killed[me] && guard_faults > 0 -> guard_faults--; hung[me] = true };
    killed[me] -> goto ends
  :: atomic { !killed[me] && guard_faults > 0 -> guard_faults--; killed[me] = true }
  :: WORKS(me) && dismissed -> goto ends
#ifndef BROKEN_DEAF_TO_DEATH
  :: WORKS(me) && ISCLOSED && !dismissed -> death = true; goto writes
#endif
#ifndef BROKEN_DEAF_TO_SILENCE
  :: WORKS(me) && daemon == stopped && !dismissed && !safe -> death = false; goto writes
#endif
  od;
writes:
  atomic {
    assert(!left);
    writers++;
    assert(writers <= 1)
  };
  /* The kernel ends a process that is in a write when the write is over. */
  if
  :: atomic { assert(!left); safe = true; writers-- }
  :: atomic { writers--; goto fails }
  fi;
  if
  :: killed[me] -> goto ends
  :: !killed[me] && death -> goto ends
  :: !killed[me] && !death -> death = false; goto end
  fi;
fails:
  if
  :: killed[me] || dismissed -> goto ends
  :: else -> goto writes
  fi;
ends:
  ended[me] = true
}

/* The control loops. */
active proctype Loops() provided (daemon == running) {
end:
  do
  :: atomic { !stopping -> safe = false }
  od
}

inline stop_loops() { atomic { stopping = true; safe = true } }

/* The main thread. */
active proctype Daemon() provided (daemon == running) {
start_guard:
  atomic { started[guard] = true; run Guard(guard) };
  do
  :: !TROUBLE -> skip
  :: TROUBLE -> goto replace
  :: break
  od;
  /* stop(): the outputs first. One that does not confirm has the daemon end without a dismissal. */
#ifdef BROKEN_DISMISSED_FIRST
  dismissed = true;
  stop_loops();
#else
  stop_loops();
  dismissed = true;
#endif
#ifndef BROKEN_NOT_AWAITED
  if
  :: ended[guard]
  /* Two seconds. */
  :: !ended[guard] -> daemon = dead
  fi;
#endif
  atomic { left = true; daemon = dead };
replace:
  killed[guard] = true;
#ifndef BROKEN_NOT_REAPED
  if
  :: ended[guard]
  /* Two seconds: the kernel does not end it. Stops without a dismissal. */
  :: !ended[guard] -> stop_loops(); daemon = dead
  fi;
#endif
  if
  :: guard < GUARDS - 1 -> guard++; goto start_guard
  :: else -> stop_loops(); daemon = dead
  fi
}

/* kill -9, SIGSTOP, SIGCONT. */
active proctype World() {
end:
  do
  :: atomic { daemon == running -> daemon = stopped }
  :: atomic { daemon == stopped -> daemon = running }
  :: atomic { daemon != dead -> daemon = dead }
  :: break
  od
}

ltl killed_daemon { [] ((daemon == dead && !dismissed && WORKS(guard)) -> <> (safe || !WORKS(guard))) }
ltl stopped_daemon { [] ((daemon == stopped && WORKS(guard)) -> <> (safe || !WORKS(guard) || daemon == running)) }
ltl hanging_guard { [] (hung[guard] -> <> (!hung[guard] || daemon != running)) }
ltl dismissal { [] (dismissed -> safe) }
