import CTactus
import Dispatch
import Glibc
import Synchronization
import Tactus

/// Safe outputs that outlive the program.
///
///     let outputs = try Guard([.serial(path: "/dev/ttyAMA0", baud: 115_200, bytes: [0x55, 0x00])])
///     try outputs.watch(runtime)
///     try runtime.start()
///     …
///     runtime.stop()
///     outputs.dismiss()
///
/// A second process, this program's own executable started anew, holds the outputs open and makes the safe-state writes as soon as this one ends
/// without `dismiss()` (the end of main, `exit`, a thrown error, a signal, a crash, kill −9), and within the time-out when this one is
/// stopped or hangs, or when a loop does that it watches. It also writes when a heartbeat is early, repeated or out of order. It writes again
/// after each further time-out, until the program is back: writing the safe state twice must be harmless.
///
/// To be made before an output is touched. Everything may be called from any thread.
public final class Guard: Sendable {
  /// An event that the handler gets.
  public enum Event: Sendable, Hashable {
    /// The guard process has died: nothing would stop the outputs now. See `replace()`.
    case died
    /// The guard process has not answered for 0.8 s. See `replace()`. Repeated after every further 0.8 s.
    case hangs
    /// The guard has written the safe state while this program lives: it, or a loop of it, was late. The outputs are not what the program
    /// last made them.
    case madeSafe
  }

  /// How it stands with the guard process.
  public enum Status: Sendable, Hashable {
    /// It answers.
    case watching
    /// It does not answer.
    case hanging
    /// It has died.
    case dead
    /// It was dismissed, and nothing is guarded.
    case dismissed
  }

  private let link: Mutex<Linked>
  private let bell: Doorbell
  private let ended = DispatchSemaphore(value: 0)
  private let handler: @Sendable (Event) -> Void
  private let state = Mutex(State())

  private struct Linked: ~Copyable, @unchecked Sendable {  // safe: used under its lock, by one thread at a time
    let link: GuardLink
    var isDismissed = false
  }

  private struct State: Sendable {
    var loops = LoopWatch()
    /// What the loops are of: their progress lives as long.
    var runtimes: [Runtime] = []
    var status = Status.watching
    var isEnding = false
    /// The old guard is gone, and that is no news.
    var isReplacing = false
  }

  /// Starts the guard process, and the thread that sends it heartbeats, eight in each time-out. Blocks until its devices are open, some
  /// milliseconds.
  ///
  /// - Parameters:
  ///   - writes: what to write, in this order.
  ///   - timeout: within this the safe state is being written when this program, or a watched loop, has stopped doing anything; 20 ms…1 day.
  ///     Five eighths of it are what a busy machine may take from the heartbeats' thread, which has normal priority.
  ///   - handler: called with each event on the heartbeats' thread: while it runs no heartbeat is sent. It must not call `dismiss()`.
  /// - Throws: `.invalid` for a write that cannot be, `.cannotOpen` for a device that cannot be opened, `.notStarted`, `.notReady`; there is
  ///   no guard then.
  public init(
    _ writes: [SafeStateWrite], timeout: Nanoseconds = .milliseconds(500),
    handler: @escaping @Sendable (Event) -> Void = { _ in }
  ) throws(GuardError) {
    guard .milliseconds(20) <= timeout, timeout <= .seconds(86_400) else {
      throw .invalid("a time-out is 20 ms…1 day, got \(timeout)")
    }
    // A loop is seen to hang up to one heartbeat later than it does, and the guard has to wake up and write.
    let period = Nanoseconds.milliseconds(timeout.count / 8_000_000)
    let link = try GuardLink(writes: writes, timeout: timeout - period * 2, period: period)
    guard link.unopened.isEmpty else {
      link.dismiss()
      throw .cannotOpen(link.unopened)
    }
    do { bell = try Doorbell() } catch { throw .invalid("\(error)") }
    let socket = link.socket
    self.link = Mutex(Linked(link: link))
    self.handler = handler
    let started = Self.run { [self] in beat(on: socket, every: period) }
    guard started == 0 else { throw .notStarted(errno: -started) }
  }

  /// Watches every loop of the runtime: one that does not advance for the time-out (and one and a half of its periods, as they are now) has
  /// the guard write. A runtime that has not been started, or was stopped, needs no ticks. It is kept until the dismissal.
  ///
  /// - Throws: `.tooManyLoops` for more than 64 in all; none of this runtime is watched then.
  public func watch(_ runtime: Runtime) throws(GuardError) {
    try state.withLock { (state) throws(GuardError) in
      let progress = runtime.progress
      let count = state.loops.count + progress.count
      guard count <= LoopWatch.capacity else { throw .tooManyLoops(count) }
      for loop in progress { state.loops.add(loop) }
      state.runtimes.append(runtime)
    }
  }

  /// How it stands with the guard process, by the newest heartbeat.
  public var status: Status { state.withLock { $0.status } }

  /// The guard's writes, for `Runtime(externalStops:)`: each loop is asked for its safe state before its next tick, so that nothing starts
  /// again by itself that the guard has stopped.
  public var externalStops: ExternalStops { link.withLock { $0.link.stops } }

  /// Has the guard write the safe state now, once, and go on watching: for a watchdog's handler, or what else knows better. Does not wait.
  public func makeSafe() {
    link.withLock { linked in
      if !linked.isDismissed { linked.link.ask() }
    }
  }

  /// Starts another guard process in the place of one that is dead or hangs. Blocks as `init` does, seven seconds at
  /// most.
  ///
  /// - Throws: `.notEnded` for an old one that the kernel does not end, `.dismissed`, otherwise as `init` does.
  public func replace() throws(GuardError) {
    state.withLock { $0.isReplacing = true }
    defer { state.withLock { $0.isReplacing = false } }
    try link.withLock { (linked) throws(GuardError) in
      guard !linked.isDismissed else { throw .dismissed }
      try linked.link.replace()
    }
    state.withLock { $0.status = .watching }
  }

  /// The clean end: to be called when the program has itself brought every output into its safe state, since the guard does not write it then. Ends the
  /// guard process, and waits for that, two seconds at most.
  public func dismiss() {
    let isFirst = link.withLock { linked in
      defer { linked.isDismissed = true }
      return !linked.isDismissed
    }
    guard isFirst else { return }
    state.withLock { $0.isEnding = true }
    bell.button.ring()
    ended.wait()
    link.withLock { $0.link.dismiss() }
    state.withLock { state in
      state.status = .dismissed
      state.runtimes = []
    }
  }

  // MARK: Heartbeats

  /// The heartbeats' thread.
  private func beat(on socket: Int32, every period: Nanoseconds) {
    defer { ended.signal() }
    var sender = HeartbeatSender(socket: socket)
    var written: UInt64 = 0
    var due = MonotonicClock.now
    while true {
      let rest = due - MonotonicClock.now
      if rest > .zero { bell.wait(limit: rest) }
      let now = MonotonicClock.now
      let (isEnding, watched, advanced) = state.withLock { state in
        (state.isEnding, state.loops.all, now < due ? 0 : state.loops.look(at: now))
      }
      if isEnding { return }
      guard now >= due else { continue }
      // The newest in phase; those that were missed are given up.
      due = due + period * ((now - due).count / period.count)
      let hearing = sender.send(due: due, at: now, watched: watched, advanced: advanced)
      due = due + period
      take(hearing, isUnanswered: sender.isUnanswered)
      if sender.written > written { handler(.madeSafe) }
      written = sender.written
    }
  }

  private func take(_ hearing: HeartbeatSender.Hearing, isUnanswered: Bool) {
    let event = state.withLock { state -> Event? in
      guard !state.isReplacing else { return nil }
      let before = state.status
      state.status = hearing == .gone ? .dead : isUnanswered ? .hanging : .watching
      switch hearing {
      case .answers: return nil
      case .silent: return .hangs
      case .gone: return before == .dead ? nil : .died
      }
    }
    if let event { handler(event) }
  }

  /// Starts a thread on which no signal is delivered: the embedder's signals are the embedder's. 0 or −errno.
  private static func run(_ body: @escaping @Sendable () -> Void) -> Int32 {
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let context = Unmanaged.passRetained(Body(run: body))
    let started = tactus_thread_run(
      { context in
        context.map { Unmanaged<Body>.fromOpaque($0).takeRetainedValue().run() }
        return nil
      }, context.toOpaque())
    if started != 0 { context.release() }
    return started
  }

  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(run: @escaping @Sendable () -> Void) { self.run = run }
  }
}
