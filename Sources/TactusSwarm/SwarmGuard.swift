import Tactus
import TactusDaemon
import TactusGuard

/// A mechanism that a test takes away, to see that the swarm finds a daemon without it.
struct SwarmMechanisms {
  /// A guard that does not answer is taken for one that hangs.
  var noticesHangs = true
  /// A guard that is lost is replaced.
  var replacesGuard = true
  /// Every output is stopped while no guard can be had.
  var stopsWithoutGuard = true
  /// When both processes have ended something else writes the safe state.
  var hasStopHook = true
  /// Loops are told of the guard's writes.
  var tellsLoops = true
  /// A daemon that stops, and whose store refuses how its outputs ended, notes when that was.
  var notesUnkept = true
  /// An emergency stop outlives the daemon.
  var keepsStops = true
}

/// The guard's process, the thread that keeps it, and what the daemon decides of it, in simulated time.
///
/// Real are the guard's machine, the daemon's judgement of its answers and what the daemon does when a guard is lost. The process is one that
/// the history kills, stops and continues.
struct SwarmGuard {
  private enum Process { case running, hung, dead }

  /// As the daemon's own: a time-out of a second (`safety.watchdog_timeout`).
  private static let window = HeartbeatWindow(shortest: .milliseconds(50), longest: .seconds(1))
  /// From a start to a guard that watches, and from a start that is refused to the refusal.
  private static let startTime = Nanoseconds.milliseconds(30)
  /// How long the keeper waits for one that is not ready.
  private static let patience = Nanoseconds.seconds(5)
  /// From the end of a child to the main thread's hearing of it.
  private static let newsTime = Nanoseconds.milliseconds(1)

  private let mechanisms: SwarmMechanisms
  private let cover: SwarmCover
  private let write: (TickInstant) -> Bool

  private var process = Process.dead
  private var machine: GuardMachine
  private var wakes = TickInstant.distantFuture
  /// What has come to one that is stopped.
  private var inbox: [GuardMachine.Event] = []
  private var startedAt = TickInstant.zero
  /// When this guard first wrote the safe state since it has had the program under control.
  private var noted: TickInstant?
  /// The note in /run that the next start reads, whichever guard wrote it.
  private(set) var note: TickInstant?
  /// When the guard wrote last, by the same note.
  private(set) var lastNote: TickInstant?

  private var answers = HeartbeatAnswers(patience: SupervisorLoop.guardPatience)
  /// On their way to the daemon.
  private var sent: [UInt64] = []
  private var loss = GuardLossMachine()
  private var losses: [TickInstant] = []
  /// A start that is under way.
  private var start: (until: TickInstant, works: Bool)?
  /// When the main thread hears that the guard has ended.
  private var news = TickInstant.distantFuture
  private var failsUntil = TickInstant.zero
  private var failsSlowly = false
  private var frozenUntil = TickInstant.zero
  /// Until when a loop of another system does not advance: the guard stops everything because of it.
  private var strangerHangsUntil = TickInstant.zero

  /// A daemon starts, and its guard with it.
  ///
  /// - Parameter write: writes the safe state; returns whether every write was confirmed.
  init(at now: TickInstant, _ mechanisms: SwarmMechanisms, _ cover: SwarmCover, write: @escaping (TickInstant) -> Bool)
  {
    (self.mechanisms, self.cover, self.write) = (mechanisms, cover, write)
    machine = GuardMachine(window: Self.window, at: now)
    run(at: now)
  }

  /// Whether there is a process that is not stopped.
  var isAtWork: Bool { process == .running }

  /// Whether the door refuses resets, since no guard can be had.
  var refusesResets: Bool {
    if case .unguarded = loss.state { return true }
    return false
  }

  /// When `look` is to be called.
  var wakesAt: TickInstant { min(process == .running ? wakes : .distantFuture, start?.until ?? .distantFuture, news) }

  // MARK: What is done to it

  /// `kill -9` of the guard.
  mutating func kill(at now: TickInstant) {
    guard process != .dead else { return }
    lose(.dead, at: now)
    news = max(now, frozenUntil) + Self.newsTime
  }

  /// SIGSTOP to the guard.
  mutating func hang(at now: TickInstant) {
    guard process == .running else { return }
    lose(.hung, at: now)
  }

  /// SIGCONT to the guard: it takes what has come meanwhile.
  mutating func resume(at now: TickInstant) {
    guard process == .hung else { return }
    process = .running
    cover.regain(at: now)
    let waiting = inbox
    inbox = []
    for event in waiting { tell(event, at: now) }
    tell(.nothing, at: now)
  }

  /// No guard can be started until then; `slowly`: it is not refused, but none is ever ready.
  mutating func failStarts(until end: TickInstant, slowly: Bool) {
    (failsUntil, failsSlowly) = (end, slowly)
    cover.failStarts(until: end, patience: slowly ? Self.patience : .zero)
  }

  /// A loop of a system that has no part hangs.
  mutating func hangLoop(until end: TickInstant) { strangerHangsUntil = end }

  /// The daemon, and with it the thread that keeps the guard, stands still.
  mutating func freeze(until end: TickInstant) {
    frozenUntil = end
    if let under = start { start = (max(under.until, end), under.works) }
    if news < end { news = end + Self.newsTime }
    cover.freeze(until: end)
  }

  /// The daemon has died: nobody keeps the guard any more, and one that is stopped is killed with the service.
  mutating func leave() {
    (start, news) = (nil, .distantFuture)
    if process == .hung { process = .dead }
  }

  /// The stop hook has written the safe state, and notes it.
  mutating func noteHook(at now: TickInstant) { (note, lastNote) = (note ?? now, now) }

  /// Its end of the socket has closed.
  mutating func close(at now: TickInstant) { tell(.closed, at: now) }

  private mutating func lose(_ new: Process, at now: TickInstant) {
    process = new
    losses = losses.filter { now - $0 < .seconds(61) } + [now]
    cover.lose(at: now, frozenUntil: frozenUntil, isCrowd: losses.count > GuardLossMachine.mostLosses)
  }

  // MARK: Time

  /// What is due by now. Returns whether every output is to be stopped.
  mutating func look(at now: TickInstant) -> Bool {
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
    if process == .running, wakes <= now { tell(.nothing, at: now) }
    return stops
  }

  /// The supervisor's tick and the main thread's beat. Returns whether every output is to be stopped.
  mutating func beat(_ loops: inout LoopWatch, due: TickInstant, at now: TickInstant) -> Bool {
    for number in sent { _ = answers.noteAnswer(to: number, at: now) }
    sent = []
    precondition(loops.count < LoopWatch.capacity, "the last place is that of the loop that only hangs")
    let stranger = UInt64(1) << 63
    let advanced = loops.look(at: now) | (now < strangerHangsUntil ? 0 : stranger)
    if process == .dead {
      answers.noteGone()
    } else {
      answers.noteSent(at: now)
      tell(
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
    tell(.nothing, at: now)
  }

  private mutating func tell(_ event: GuardMachine.Event, at now: TickInstant) {
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
      // First: a loop that runs after the write must know of it.
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
