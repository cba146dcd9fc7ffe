@preconcurrency import Glibc
import Tactus
import TactusGuard

// An embedder's program, for TactusGuardTests: guards a serial line, says so, and ends as it is told.
//
//     guard-probe LINE TIMEOUT-MS ENDING

/// What an embedder's controller is here: a loop that ticks, or stands still when it is asked to.
struct Controller: ~Copyable, ControlLoop, NoOutput {
  let stall: LaneStall.Served

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) { stall.serve(at: tick.started) }
}

struct Thrown: Error {}

// The threads of a test runner block signals, a shell's background ignores some, and a child inherits both; a terminal's begins like this.
for number in [SIGINT, SIGQUIT, SIGTERM] { signal(number, SIG_DFL) }
var none = sigset_t()
sigemptyset(&none)
sigprocmask(SIG_SETMASK, &none, nil)
let arguments = CommandLine.arguments
setvbuf(stdout, nil, _IOLBF, 0)
print("main of \(getpid())")
let write: SafeStateWrite =
  arguments[3] == "program"
  ? .program(["/bin/sh", "-c", "printf SAFE > \(arguments[1])"])
  : .serial(path: arguments[1], baud: 115_200, bytes: Array("SAFE".utf8))
let outputs = try Guard(
  [write], timeout: .milliseconds(Int64(arguments[2])!)
) { print("told \($0)") }
let stall = LaneStall()
let runtime = try Runtime(lockMemory: false, externalStops: outputs.externalStops) {
  Lane("motion") { Loop("controller", every: .hertz(200)) { Controller(stall: stall.served) } }
}
try outputs.watch(runtime)
try runtime.start()
print("guarding")

switch arguments[3] {
case "wait":
  while runtime.statistics["controller"]?.counters.safeStates == 0 { poll(nil, 0, 10) }
  print("the loop was asked for its safe state")
  while true { pause() }
case "hang":
  stall.ask(for: LaneStall.longest)
  while true { pause() }
case "exit": exit(0)
case "abort": abort()
case "trap": fatalError("a trap")
case "throw": throw Thrown()
case "terminate":
  kill(getpid(), SIGTERM)
  while true { pause() }
case "stop", "talk":
  if arguments[3] == "talk" { fputs("something to read\n", stderr) }
  runtime.stop()
  outputs.dismiss()
  print("dismissed, \(outputs.status)")
case "replace":
  while outputs.status == .watching { poll(nil, 0, 10) }
  try outputs.replace()
  print("replaced")
  while true { pause() }
case "ask":
  outputs.makeSafe()
  while true { pause() }
default: break
}
