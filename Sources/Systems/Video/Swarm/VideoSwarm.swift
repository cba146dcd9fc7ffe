import Tactus
import TactusDaemon
import TactusSwarm
import Video
import VideoDaemon
import Wire

/// The video in the swarm: the production supervision and desk, a simulated process that crashes, hangs, sends invalid bytes or cannot be
/// killed, a camera that is connected and disconnected, and people who watch and record.
final class VideoSwarm: SwarmPart {
  /// Switches by which a test disables parts.
  struct Settings {
    /// Whether SIGKILL ends the process.
    var kills = true
    /// Whether the desk is informed of starts, kills and ends of the process.
    var tells = true
    /// Whether an orderly stop ends the process.
    var stops = true
  }

  /// The state that ends with the daemon.
  private struct Daemon {
    var supervision: ChildSupervision<VideoTalk>
    let desk: VideoDesk
    var viewers: [VideoViewer] = []
    var isReplacing = false
  }

  /// The time from the arrival of bytes, or the end of the process, until the supervising thread notices.
  private static let reading = Nanoseconds.milliseconds(10)

  let name = "video"
  let hasDied = false
  let isEmergencyStopped = false
  let heartbeats: [(version: LatestVersion, period: Nanoseconds)] = []
  var checks: SwarmChecks { oracle.checks }
  var hasFailed: Bool { oracle.checks.hasFailed }
  private let settings: Settings
  private var oracle = VideoOracle()
  private var daemon: Daemon?
  private var process: SimulatedVideoProcess?
  private let clock = Guarded(TickInstant.zero)
  /// Orders of the desk that have not been given to the process yet.
  private let orders = Guarded<[VideoOrder]>([])
  private var numbers: Int32 = 0
  private var isCameraThere = true
  private var driverHangsUntil = TickInstant.zero
  private var startsFailUntil = TickInstant.zero
  private var frozenUntil = TickInstant.zero
  /// The instant at which the supervising thread notices the bytes that the process has sent.
  private var hearsAt = TickInstant.distantFuture
  private var nextLook = TickInstant.zero

  init(seed: UInt64, _ settings: Settings = Settings()) { self.settings = settings }

  func plan(_ plan: inout SwarmPlanner) {
    plan.times(0...12) { plan in
      let at = plan.instant()
      let verb = ["join", "join", "join", "leave", "leave", "record", "record-stop"][plan.below(7)]
      plan.add(at, verb, plan.within(0...3))
    }
    // Spans are derived from the instant.
    func span(_ at: TickInstant, _ most: Int64) -> Int64 { at.nanoseconds / 1_000_000 % most }
    plan.maybe(300, 1...6) { $0.add($0.instant(), "crash") }
    plan.maybe(300, 1...3) { $0.add($0.instant(), "hang") }
    plan.maybe(200, 1...2) { $0.add($0.instant(), "nonsense") }
    plan.maybe(150, 1...2) { $0.add($0.instant(), "replace") }
    plan.maybe(150, 1...1) { plan in
      let at = plan.instant()
      plan.add(at, "driver-hangs", 1_000 + span(at, 19_000))
      plan.add(at, "hang")
    }
    plan.maybe(100, 1...1) { plan in
      let at = plan.instant()
      plan.add(at, "starts-fail", 1_000 + span(at, 19_000))
      plan.add(at, "crash")
    }
    plan.maybe(200, 1...2) { plan in
      let at = plan.instant()
      plan.add(at, "camera", 0)
      plan.add(at + .milliseconds(1 + span(at, 15_000)), "camera", 1)
    }
  }

  // MARK: The daemon's life

  func start(at now: TickInstant, _ cover: SwarmCover) {
    clock.value = now
    var wanted = VideoSettings()
    wanted.viewerLimit = 3
    let desk = VideoDesk(
      VideoDescription(wanted, recordFolder: "/recordings", recordLimitBytes: 1_000_000),
      order: { [orders] order in orders.value += [order] }, now: { [clock] in clock.value },
      fileName: { [clock] in "\(clock.value.nanoseconds).mp4" })
    daemon = Daemon(supervision: ChildSupervision(at: now), desk: desk)
    frozenUntil = .zero
    oracle.started(at: now)
  }

  /// Kills the daemon. The kernel ends the process together with the thread that started it.
  func kill(at now: TickInstant, safeBy: TickInstant) {
    (daemon, process, hearsAt) = (nil, nil, .distantFuture)
    orders.value = []
  }

  /// Stops the daemon in order: the supervising thread ends the process and waits for its end, while nothing else happens in the daemon.
  func stop(at now: TickInstant) -> (isOff: Bool, outcome: KeptOutcome) {
    guard daemon != nil else { return (true, .known) }
    clock.value = now
    let began = now
    var now = now
    if settings.stops { step(.stop, at: now) }
    while let supervision = daemon?.supervision, settings.stops, !supervision.isStopped {
      let overAt = process.map { $0.isOver ? now : $0.overAt } ?? .distantFuture
      now = max(now, min(overAt, supervision.nextDeadline ?? .distantFuture))
      guard now < .distantFuture else { break }
      clock.value = now
      if overAt <= now {
        process?.end()
        reap("it ended", at: now)
      } else {
        step(.time, at: now)
      }
    }
    report()
    stopped(began, at: now)
    return (true, .known)
  }

  private func stopped(_ began: TickInstant, at now: TickInstant) {
    guard let daemon else { return }
    let told = daemon.desk.told
    oracle.stopped(
      process, isDriverHung: now < driverHangsUntil, told: told.state, took: now - began, at: now)
    oracle.counted(viewers: told.viewers, watched: daemon.viewers.count, nil, at: now)
    if let recording = told.recording, [.starting, .running].contains(recording.phase) {
      oracle.recordedAfterStop(recording.path, at: now)
    }
    let report = daemon.supervision.report(process: process?.number)
    oracle.account(starts: report.starts, ends: report.ends, process, at: now)
  }

  func freeze(at now: TickInstant, for span: Nanoseconds) {
    frozenUntil = max(frozenUntil, now + span)
    oracle.stoodStill(until: frozenUntil)
  }

  func emergencyStop(at now: TickInstant) {}
  func reset(at now: TickInstant) {}
  func makeSafe(at now: TickInstant) -> Bool { true }

  // MARK: Time

  func run(until instant: TickInstant) {
    while let supervision = daemon?.supervision {
      let thread = max(min(supervision.nextDeadline ?? .distantFuture, hearsAt), frozenUntil)
      let next = min(thread, process?.nextAt ?? .distantFuture, process?.overAt ?? .distantFuture, nextLook)
      guard next <= instant else { break }
      let now = max(clock.value, next)
      clock.value = now
      if process.map({ $0.overAt <= now }) ?? false {
        process?.end()
        oracle.changed(at: now)
        ring(at: now)
      } else if process.map({ $0.nextAt <= now }) ?? false {
        process?.advance(at: now, isCameraThere: isCameraThere)
        ring(at: now)
      } else if thread <= now {
        wake(at: now)
      } else {
        nextLook = now + .seconds(1)
        check(at: now)
      }
    }
    clock.value = instant
  }

  private func ring(at now: TickInstant) { hearsAt = min(hearsAt, now + Self.reading) }

  /// Runs the supervising thread once: it handles the bytes that the process has sent or the process's end, then the orders, then the actions that
  /// are due.
  private func wake(at now: TickInstant) {
    hearsAt = .distantFuture
    if process?.isOver ?? false {
      reap("it ended", at: now)
    } else if let bytes = process?.takeSaid(), !bytes.isEmpty, let desk = daemon?.desk,
      let event = daemon?.supervision.hear(bytes, at: now, { desk.receive($0) })
    {
      step(event, at: now)
    }
    let due = orders.value
    orders.value = []
    for order in due { process?.carryOut(order, at: now) }
    step(.time, at: now)
  }

  private func step(_ event: SupervisionMachine.Event, at now: TickInstant) {
    guard let action = daemon?.supervision.step(event, at: now) else { return }
    switch action {
    case .none: break
    case .tell: report()
    case .spawn:
      oracle.spawned(beside: running, at: now)
      numbers += 1
      orders.value = []
      process = SimulatedVideoProcess(numbers, at: now)
      // A process that cannot be started ends at once.
      if now < startsFailUntil { reap("it cannot be started", at: now) } else { report() }
      ring(at: now)
    case .kill:
      let isGuiltless = event == .replace || event == .stop
      if let process { oracle.killed(process, isReplaced: isGuiltless, at: now) }
      if settings.kills { process?.kill(at: now, driverHangsUntil: driverHangsUntil) }
      daemon?.isReplacing = isGuiltless
      if event != .replace { report() }
    }
  }

  private func reap(_ cause: String, at now: TickInstant) {
    guard let ended = process else { return }
    process = nil
    oracle.ended(ended, isReplaced: daemon?.isReplacing ?? false, at: now)
    daemon?.isReplacing = false
    _ = daemon?.supervision.ended(cause, at: now)
    report()
  }

  private func report() {
    guard settings.tells, let daemon else { return }
    daemon.desk.receive(daemon.supervision.report(process: process?.number))
  }

  /// The process, or `nil` if none was started or it has ended, even unnoticed by the daemon.
  private var running: SimulatedVideoProcess? { process.flatMap { $0.isOver ? nil : $0 } }

  /// Checks the published state, once a second.
  private func check(at now: TickInstant) {
    guard let daemon else { return }
    // The swarm does not read the documents of these events.
    _ = daemon.desk.events(at: now)
    let told = daemon.desk.told
    oracle.check(running, at: now)
    oracle.told(
      told.state, running, isCameraThere: isCameraThere, watched: daemon.viewers.count, at: now)
    oracle.counted(viewers: told.viewers, watched: daemon.viewers.count, running, at: now)
    if let recording = told.recording {
      let isRunning = [.starting, .running].contains(recording.phase)
      oracle.recorded(isRunning: isRunning, path: recording.path, running, at: now)
    }
    let report = daemon.supervision.report(process: process?.number)
    oracle.account(starts: report.starts, ends: report.ends, process, at: now)
  }

  // MARK: What is done

  func apply(_ action: SwarmAction) {
    let now = action.at
    clock.value = now
    let span = Nanoseconds.milliseconds(max(action[0], 0))
    switch action.verb {
    case "join": join(at: now)
    case "leave": leave(at: now)
    case "record": _ = try? daemon?.desk.record(nil)
    case "record-stop": if daemon != nil { orders.value += [.stopRecording] }
    case "crash": process?.crash(at: now)
    case "hang": process?.hang(at: now)
    case "nonsense": process?.talkNonsense(at: now)
    case "camera": isCameraThere = action[0] > 0
    case "driver-hangs": driverHangsUntil = now + span
    case "starts-fail": startsFailUntil = now + span
    case "replace":
      step(.replace, at: now)
      if running == nil { oracle.replaced(at: now) }
    default: return
    }
    oracle.changed(at: now)
    // Orders are lost while there is no process.
    if running == nil { orders.value = [] }
    ring(at: now)
  }

  private func join(at now: TickInstant) {
    guard let viewer = try? daemon?.desk.join(.pictures) else { return }
    daemon?.viewers.append(viewer)
  }

  private func leave(at now: TickInstant) {
    guard let viewer = daemon?.viewers.popLast() else { return }
    daemon?.desk.leave(viewer)
  }
}

extension SwarmMember {
  /// The system `video` as a member of the swarm.
  public static var video: SwarmMember { SwarmMember(Video.self) { VideoSwarm(seed: $0) } }
}
