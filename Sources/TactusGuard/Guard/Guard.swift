import CTactus
@_spi(FromOutside) import Conversions
import Dispatch
import Glibc
import Synchronization
import Tactus

/// A guard that brings a program's outputs into their safe state, even when the program itself no longer can.
///
///     let outputs = try Guard([.serial(path: "/dev/ttyAMA0", baud: 115_200, bytes: [0x55, 0x00])])
///     try outputs.watch(runtime)
///     try runtime.start()
///     …
///     runtime.stop()
///     outputs.dismiss()
///
/// The guard is a second process, started from this program's executable. It holds the outputs open and makes the safe-state writes
/// as soon as this program ends without `dismiss()` (by the end of main, `exit`, a thrown error, a signal, a crash or kill −9), and
/// within the timeout when this program is stopped or hangs, or when a watched loop hangs. It also writes when a heartbeat is
/// early, repeated or out of order. It writes again after each further timeout until the program is back, so writing the safe state
/// twice must be harmless.
///
/// The guard must be created before an output is used. All members may be called from any thread.
public final class Guard: Sendable {
  /// An event that is passed to the handler.
  public enum Event: Sendable, Hashable {
    /// The guard process has died, so the outputs are unguarded now. See `replace()`.
    case died
    /// The guard process has not answered for 0.8 s. See `replace()`. The event is repeated after every further 0.8 s.
    case hangs
    /// The guard has written the safe state while this program was running, because the program or one of its loops was late. The
    /// outputs no longer have the values that the program last wrote.
    case madeSafe
  }

  /// The state of the guard process.
  public enum Status: Sendable, Hashable {
    /// The guard process answers heartbeats.
    case watching
    /// The guard process does not answer heartbeats.
    case hanging
    /// The guard process has died.
    case dead
    /// The guard was dismissed, and the outputs are unguarded.
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
    /// The runtimes of the watched loops, kept alive because their progress is valid only as long as they are.
    var runtimes: [Runtime] = []
    var status = Status.watching
    var isEnding = false
    /// Whether the old guard is being replaced, so that its end is not reported.
    var isReplacing = false
  }

  /// Starts the guard process and the thread that sends it eight heartbeats in each timeout. Blocks for some milliseconds until the
  /// guard has opened its devices.
  ///
  /// - Parameters:
  ///   - writes: the safe-state writes, in the order in which they are made.
  ///   - timeout: the time within which the guard begins to write the safe state after this program, or a watched loop, has stopped
  ///     running; 20 ms…1 day. The heartbeat thread has normal priority; a busy machine may delay it by five eighths of the timeout.
  ///   - handler: called with each event on the heartbeat thread; no heartbeat is sent meanwhile. It must not call `dismiss()`.
  /// - Throws: `.invalid` for an impossible write, `.cannotOpen` for a device that cannot be opened, `.notStarted`, `.notReady`.
  ///   There is no guard after an error.
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

  /// Watches every loop of the runtime: if a loop makes no progress for the timeout plus one and a half of its present periods, the
  /// guard writes. A runtime that has not been started, or has been stopped, needs no progress. The runtime is retained until the
  /// guard is dismissed.
  ///
  /// - Throws: `.tooManyLoops` for more than 64 loops in total; no loop of this runtime is watched then.
  public func watch(_ runtime: Runtime) throws(GuardError) {
    try state.withLock { (state) throws(GuardError) in
      let progress = runtime.progress
      let count = state.loops.count + progress.count
      guard count <= LoopWatch.capacity else { throw .tooManyLoops(count) }
      for loop in progress { state.loops.add(loop) }
      state.runtimes.append(runtime)
    }
  }

  /// The state of the guard process, as of the newest heartbeat.
  public var status: Status { state.withLock { $0.status } }

  /// The guard's writes, for `Runtime(externalStops:)`: each loop is asked for its safe state before its next tick, so that an
  /// output that the guard has stopped does not start again by itself.
  public var externalStops: ExternalStops { link.withLock { $0.link.stops } }

  /// Makes the guard write the safe state immediately, once, and continue watching. For a watchdog's handler and other code that
  /// detects a failure. Does not wait for the write.
  public func makeSafe() {
    link.withLock { linked in
      if !linked.isDismissed { linked.link.ask() }
    }
  }

  /// Starts another guard process in place of one that has died or hangs. Blocks like `init`, for at most seven seconds.
  ///
  /// - Throws: `.notEnded` if the kernel does not end the old process, `.dismissed`, or the errors of `init`.
  public func replace() throws(GuardError) {
    state.withLock { $0.isReplacing = true }
    defer { state.withLock { $0.isReplacing = false } }
    try link.withLock { (linked) throws(GuardError) in
      guard !linked.isDismissed else { throw .dismissed }
      try linked.link.replace()
    }
    state.withLock { $0.status = .watching }
  }

  /// Ends the guard process without a safe-state write, and waits at most two seconds for its end. The function must be called
  /// after the program itself has brought every output into its safe state.
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

  /// Runs the heartbeat thread.
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
        (state.isEnding, state.loops.all, now < due ? 0 : state.loops.check(at: now))
      }
      if isEnding { return }
      guard now >= due else { continue }
      // The newest release in phase is next; missed ones are given up.
      due = due + period * ((now - due).count / period.count)
      let hearing = sender.send(due: due, at: now, watched: watched, advanced: advanced)
      due = due + period
      receive(hearing, isUnanswered: sender.isUnanswered)
      if sender.written > written { handler(.madeSafe) }
      written = sender.written
    }
  }

  private func receive(_ hearing: HeartbeatSender.Hearing, isUnanswered: Bool) {
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

  /// Starts a thread on which no signal is delivered, since signals belong to the embedding program. Returns 0, or −errno if it fails.
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
