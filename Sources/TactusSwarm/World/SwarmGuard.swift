@_spi(FromOutside) import Conversions
import Tactus
import TactusDaemon
import TactusGuard

/// The mechanisms that a test can switch off, to show that the swarm detects a daemon without them.
struct SwarmMechanisms {
  /// Whether a guard that does not answer is considered to hang.
  var noticesHangs = true
  /// Whether a lost guard is replaced.
  var replacesGuard = true
  /// Whether every output is stopped while no guard can be started.
  var stopsWithoutGuard = true
  /// Whether the stop hook writes the safe state after both processes have ended.
  var hasStopHook = true
  /// Whether the guard's writes are reported to the loops.
  var tellsLoops = true
  /// Whether a daemon that stops notes the time if its store refuses to record how the outputs ended.
  var notesUnkept = true
  /// Whether an emergency stop survives the end of the daemon.
  var keepsStops = true
}

/// The guard's process, the thread that supervises it and the daemon's decisions about it, in simulated time.
///
/// The guard's state machine, the daemon's judgement of its answers and the daemon's reaction to the loss of a guard
/// are the production code. The process is simulated: the history kills, suspends and resumes it.
struct SwarmGuard {
  private enum Process { case running, hung, dead }

  /// The heartbeat window of the production daemon with a timeout of one second (`safety.watchdog_timeout`).
  private static let window = HeartbeatWindow(shortest: .milliseconds(50), longest: .seconds(1))
  /// The time from a start to a guard that watches, and from a refused start to its refusal.
  private static let startTime = Nanoseconds.milliseconds(30)
  /// The time for which the daemon waits for a guard that does not become ready.
  private static let patience = Nanoseconds.seconds(5)
  /// The time from the end of a child process to the main thread's notice of it.
  private static let newsTime = Nanoseconds.milliseconds(1)

  private let mechanisms: SwarmMechanisms
  private let cover: SwarmCover
  private let write: (TickInstant) -> Bool

  private var process = Process.dead
  private var machine: GuardMachine
  private var wakes = TickInstant.distantFuture
  /// The events that wait for a suspended process.
  private var inbox: [GuardMachine.Event] = []
  private var startedAt = TickInstant.zero
  /// The time at which this guard first wrote the safe state since the program was last under control, or `nil` if it has not.
  private var noted: TickInstant?
  /// The note in /run that the next start reads, whichever guard wrote it, or `nil` if no guard has written one.
  private(set) var note: TickInstant?
  /// The time of the guard's last write according to the same note, or `nil` if no guard has written one.
  private(set) var lastNote: TickInstant?

  private var answers = HeartbeatAnswers(patience: SupervisorLoop.guardPatience)
  /// The numbers of the heartbeats whose answers are on their way to the daemon.
  private var sent: [UInt64] = []
  private var loss = GuardLossMachine()
  private var losses: [TickInstant] = []
  /// A start in progress, or `nil` if no guard is being started: when it ends and whether it succeeds.
  private var start: (until: TickInstant, works: Bool)?
  /// The time at which the main thread notices that the guard has ended.
  private var news = TickInstant.distantFuture
  private var failsUntil = TickInstant.zero
  private var failsSlowly = false
  private var frozenUntil = TickInstant.zero
  /// The time until which a loop of another system does not advance, for which the guard stops all outputs.
  private var strangerHangsUntil = TickInstant.zero

  /// Makes the guard that starts together with its daemon.
  ///
  /// - Parameter write: writes the safe state and returns whether every write was confirmed.
  init(at now: TickInstant, _ mechanisms: SwarmMechanisms, _ cover: SwarmCover, write: @escaping (TickInstant) -> Bool)
  {
    (self.mechanisms, self.cover, self.write) = (mechanisms, cover, write)
    machine = GuardMachine(window: Self.window, at: now)
    run(at: now)
  }

  /// Whether the process exists and is not suspended.
  var isAtWork: Bool { process == .running }

  /// Whether the service refuses resets because no guard can be started.
  var refusesResets: Bool {
    if case .unguarded = loss.state { return true }
    return false
  }

  /// The next instant at which `advance` must be called.
  var wakesAt: TickInstant { min(process == .running ? wakes : .distantFuture, start?.until ?? .distantFuture, news) }

  // MARK: What is done to it

  /// Kills the guard, as `kill -9` does.
  mutating func kill(at now: TickInstant) {
    guard process != .dead else { return }
    lose(.dead, at: now)
    news = max(now, frozenUntil) + Self.newsTime
  }

  /// Suspends the guard, as SIGSTOP does.
  mutating func hang(at now: TickInstant) {
    guard process == .running else { return }
    lose(.hung, at: now)
  }

  /// Resumes the guard, as SIGCONT does; it then handles the events that have arrived meanwhile.
  mutating func resume(at now: TickInstant) {
    guard process == .hung else { return }
    process = .running
    cover.regain(at: now)
    let waiting = inbox
    inbox = []
    for event in waiting { deliver(event, at: now) }
    deliver(.nothing, at: now)
  }

  /// Makes every start of a guard fail until `end`. With `slowly` the start is not refused, but the guard never becomes ready.
  mutating func failStarts(until end: TickInstant, slowly: Bool) {
    (failsUntil, failsSlowly) = (end, slowly)
    cover.failStarts(until: end, patience: slowly ? Self.patience : .zero)
  }

  /// Makes a loop hang that belongs to a system without a part.
  mutating func hangLoop(until end: TickInstant) { strangerHangsUntil = end }

  /// Suspends the daemon, and with it the thread that supervises the guard.
  mutating func freeze(until end: TickInstant) {
    frozenUntil = end
    if let under = start { start = (max(under.until, end), under.works) }
    if news < end { news = end + Self.newsTime }
    cover.freeze(until: end)
  }

  /// Notes that the daemon has died: the guard is no longer supervised, and a suspended guard is killed with the service.
  mutating func leave() {
    (start, news) = (nil, .distantFuture)
    if process == .hung { process = .dead }
  }

  /// Notes that the stop hook has written the safe state.
  mutating func noteHook(at now: TickInstant) { (note, lastNote) = (note ?? now, now) }

  /// Notes that the daemon's end of the socket has closed.
  mutating func close(at now: TickInstant) { deliver(.closed, at: now) }

  private mutating func lose(_ new: Process, at now: TickInstant) {
    process = new
    losses = losses.filter { now - $0 < .seconds(61) } + [now]
    cover.lose(at: now, frozenUntil: frozenUntil, isCrowd: losses.count > GuardLossMachine.mostLosses)
  }

  // MARK: Time

  /// Does all work that is due. Returns whether every output is to be stopped.
  mutating func advance(at now: TickInstant) -> Bool {
    var stops = false
    if news <= now {
      news = .distantFuture
      if loss.state == .watching { stops = step(.lost(.died), at: now) }
    }
    if let under = start, under.until <= now {
      start = nil
      if under.works { run(at: now) }
      stops = step(under.works ? .ready : .failed, at: now) || stops
    }
    if process == .running, wakes <= now { deliver(.nothing, at: now) }
    return stops
  }

  /// Does the work of the supervisor's tick and of the main thread's beat. Returns whether every output is to be stopped.
  mutating func beat(_ loops: inout LoopWatch, due: TickInstant, at now: TickInstant) -> Bool {
    for number in sent { _ = answers.noteAnswer(to: number, at: now) }
    sent = []
    precondition(loops.count < LoopWatch.capacity, "the last place is that of the loop that only hangs")
    let stranger = UInt64(1) << 63
    let advanced = loops.check(at: now) | (now < strangerHangsUntil ? 0 : stranger)
    if process == .dead {
      answers.noteGone()
    } else {
      answers.noteSent(at: now)
      deliver(
        .heartbeat(
          Heartbeat(number: answers.number, due: due, sent: now, watched: loops.all | stranger, advanced: advanced)),
        at: now)
    }
    var stops = false
    if answers.isSilent(at: now), mechanisms.noticesHangs, process != .dead,
      GuardKeeper.isSilence(at: now, of: startedAt), loss.state == .watching
    {
      stops = step(.lost(.hung), at: now)
    }
    return step(.beat, at: now) || stops
  }

  private mutating func step(_ event: GuardLossMachine.Event, at now: TickInstant) -> Bool {
    let action = loss.step(event, at: now)
    if action.replaces, mechanisms.replacesGuard {
      process = .dead
      let fails = now < failsUntil
      start = (now + (fails && failsSlowly ? Self.patience : Self.startTime), !fails)
    }
    return action.makesSafe && mechanisms.stopsWithoutGuard
  }

  // MARK: The process

  private mutating func run(at now: TickInstant) {
    process = .running
    machine = GuardMachine(window: Self.window, at: now)
    (inbox, sent, noted, startedAt) = ([], [], nil, now)
    cover.regain(at: now)
    deliver(.nothing, at: now)
  }

  private mutating func deliver(_ event: GuardMachine.Event, at now: TickInstant) {
    switch process {
    case .dead: return
    case .hung: return inbox.append(event)
    case .running: break
    }
    let before = machine.state
    var action = machine.step(event, at: now)
    if case .heartbeat(let heartbeat) = event { sent.append(heartbeat.number) }
    if before != .watching, machine.state == .watching, noted != nil { (noted, note, lastNote) = (nil, nil, nil) }
    while case .write = action {
      // The stop is noted before the write, because a loop that runs after the write must know of it.
      cover.stops?.note(at: now)
      noted = noted ?? now
      (note, lastNote) = (noted, now)
      action = machine.step(write(now) ? .confirmed : .failed, at: now)
    }
    if case .wait(let until) = action {
      wakes = max(until, now + .nanoseconds(1))
    } else {
      wakes = .distantFuture
    }
  }
}
