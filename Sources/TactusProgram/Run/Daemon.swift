import Buses
import BusesLinux
import Devices
import Glibc
import Logging
import Robot
import Service
import Tactus

/// The running program: everything composed, started, watched and stopped.
///
/// The main thread blocks in `ServiceEvents.wait` and does what may take time: logging, the guard's restart, the service
/// manager. No loop waits for it.
final class Daemon {
  private let configuration: Configuration
  private let logger: Logger
  private let log: ProgramLog
  private let notifier: ServiceNotifier
  private let robot: RobotSystem
  private let socket: LinuxDatagramSocket
  /// nil on real hardware.
  private let surroundings: SimulatedSurroundings?
  private let runtime: Runtime
  private let guardLink: GuardLink?
  /// nil: switched off.
  let service: ServiceComposition?
  private var announcement: Announcement?
  private let isSimulated: Bool
  private var robotNotices: RingReader<RobotNotice>
  private var supervisorNotices: RingReader<SupervisorNotice>
  private var guardDeaths = 0
  private var simulatedWasMoving = false

  struct Options {
    var simulate: Bool
    var logFormat: LogFormat
    var environment: [String: String]
  }

  /// Starts the guard, opens the ports, composes the loops. Nothing is written to an actuator yet.
  init(
    _ configuration: Configuration, motors: Configuration.Motors, options: Options, logger: Logger, log: ProgramLog,
    events: borrowing ServiceEvents
  ) throws {
    self.configuration = configuration
    self.logger = logger
    self.log = log
    notifier = ServiceNotifier(environment: options.environment)
    isSimulated = options.simulate || motors.backend == .sim

    let hardware = try MotorHardware(motors, simulate: options.simulate)
    robot = try RobotSystem(configuration, motors: motors, hardware: hardware)
    socket = try LinuxDatagramSocket(address: configuration.bindAddress, port: configuration.motorPort)
    let writes = isSimulated || !configuration.guardEnabled ? [] : SafeStatePlan.writes(for: motors)
    guardLink =
      writes.isEmpty
      ? nil
      : try GuardLink(
        writes: writes, timeoutMilliseconds: Int(configuration.guardTimeoutSeconds * 1000), format: options.logFormat)

    surroundings = isSimulated ? SimulatedSurroundings(hardware, motors, port: socket.port()) : nil
    let port = surroundings?.port() ?? socket.port()
    // A kernel socket has a descriptor.
    let input = LoopInput.descriptor(port.descriptor!)
    let supervisor = Ring<SupervisorNotice>(capacity: 64)
    let button = events.doorbell.button
    let robotLane = robot.lane(port: port, input: input, bell: button)
    let snapshot = robot.snapshot
    let guardSocket = guardLink?.socket ?? -1
    let patience = Nanoseconds.seconds(configuration.guardTimeoutSeconds)
    runtime = try Runtime(strict: configuration.strict, lockMemory: configuration.lockMemory) {
      robotLane
      Lane("supervisor") {
        Loop("supervisor", every: SupervisorLoop.rate) {
          SupervisorLoop(
            robot: snapshot.reader(), notices: supervisor.writer(), bell: button, guardSocket: guardSocket,
            patience: patience)
        }
      }
    }
    robotNotices = robot.notices.reader()
    supervisorNotices = supervisor.reader()
    service = try ServiceComposition(
      configuration, systems: [robot.door],
      routes: LogRoutes(history: log.history, threshold: log.threshold).routes + (surroundings?.routes ?? [])
        + robot.measurements(of: runtime),
      environment: options.environment, logger: log.logger("service"))
  }

  /// Where the robot listens, the port in effect.
  var endpoint: Endpoint { socket.localEndpoint }

  /// Starts the loops, calls `started`, and returns when a signal has asked to stop and the motors are stopped. The exit
  /// status.
  func run(events: borrowing ServiceEvents, started: () -> Void) throws -> Int32 {
    do {
      // First the port: one that is taken must stop the start before an actuator is touched.
      try service?.service.bind()
      try runtime.start()
      try service?.service.start()
    } catch {
      service?.service.stop()
      guardLink?.sayGoodbye()
      throw error
    }
    reportStart()
    service?.reportStart()
    announcement = service?.announce(configuration)
    started()
    notifier.ready(status: "listening on \(endpoint)")
    while true {
      for event in events.wait() {
        switch event {
        case .stop(let signal):
          return stop("signal \(signal == SIGTERM ? "SIGTERM" : "SIGINT")")
        case .reopenLog:
          if !log.sink.reopen() { logger.warning("the log file cannot be opened again") }
        case .childEnded:
          if let status = restartGuard() { return status }
        case .doorbell:
          takeNotices()
        case .input: break
        }
      }
    }
  }

  private func reportStart() {
    var metadata: Logger.Metadata = [
      "version": .string(TactusCommand.version), "listen": .string("\(endpoint)"),
      "simulated": .stringConvertible(isSimulated),
    ]
    if let guardLink { metadata["guard"] = .stringConvertible(Int(guardLink.process)) }
    logger.info("started", metadata: metadata)
    if !isSimulated && guardLink == nil {
      logger.warning("the guard is switched off: nothing stops the motors when this program dies")
    }
    let findings = runtime.reports.flatMap { report in
      report.findings.map { (isRefusal: $0.isRefusal, text: "lane \(report.lane): \($0.description)") }
    }
    let refusals = findings.filter(\.isRefusal).map(\.text) + memoryRefusal
    if !refusals.isEmpty {
      logger.warning(
        "running without all real-time settings; `tactus doctor` says more",
        metadata: ["reasons": .array(refusals.map { .string($0) })])
    }
    for finding in findings where !finding.isRefusal { logger.debug("\(finding.text)") }
  }

  private func newestSnapshot() -> RobotSnapshot {
    var reader = robot.snapshot.reader()
    return reader.read()
  }

  private var memoryRefusal: [String] {
    guard case .refused(let errno) = runtime.memoryLock else { return [] }
    return ["memory is not locked: \(String(cString: strerror(errno)))"]
  }

  private func takeNotices() {
    robot.door.takeAnswers(at: MonotonicClock.now)
    while let notice = robotNotices.pop() {
      logger.log(notice)
      service?.service.publish([robot.door.edge(notice)])
    }
    while let notice = supervisorNotices.pop() {
      switch notice {
      case .beat(let instant):
        robot.door.takeAnswers(at: instant)
        service?.service.beat(at: instant)
      case .pulse:
        notifier.watchdog()
        if let simulated = robot.hardware.simulated { reportMotion(simulated.snapshot) }
      case .stalled(let time):
        service?.service.setStalled(true, loop: RobotSystem.loopName)
        logger.critical("the control loop has not ticked for \(time)")
      case .resumed:
        service?.service.setStalled(false, loop: RobotSystem.loopName)
        logger.notice("the control loop ticks again")
      }
    }
  }

  /// A simulated robot cannot be watched otherwise: once a second while it moves, and once when it has stopped.
  private func reportMotion(_ snapshot: SimulatedRobotSnapshot) {
    let speeds = newestSnapshot().speeds
    let isMoving = !speeds.isZero || abs(snapshot.speeds.left) > 0.001 || abs(snapshot.speeds.right) > 0.001
    guard isMoving || simulatedWasMoving else { return }
    simulatedWasMoving = isMoving
    func rounded(_ value: Double) -> Logger.MetadataValue { .stringConvertible((value * 1000).rounded() / 1000 + 0) }
    logger.info(
      isMoving ? "simulated robot drives" : "simulated robot stands",
      metadata: [
        "left_percent": rounded(speeds.left.value), "right_percent": rounded(speeds.right.value),
        "left_m_s": rounded(snapshot.speeds.left), "right_m_s": rounded(snapshot.speeds.right),
        "x_m": rounded(snapshot.pose.x), "y_m": rounded(snapshot.pose.y),
      ])
  }

  /// Starts another guard when it has died; stops everything when that is not possible. The exit status then.
  private func restartGuard() -> Int32? {
    guard let guardLink, guardLink.hasEnded() else { return nil }
    guardDeaths += 1
    logger.error("the guard process died", metadata: ["deaths": .stringConvertible(guardDeaths)])
    do throws(GuardLink.Failure) {
      guard guardDeaths <= 10 else { throw .notReady }
      try guardLink.restart()
      logger.notice("another guard is watching", metadata: ["guard": .stringConvertible(Int(guardLink.process))])
      return nil
    } catch {
      logger.critical("\(error); stopping, because nothing would stop the motors if this program died")
      _ = stop("no guard")
      return 1
    }
  }

  /// Stops the motors, then the rest. 0 when the motors confirmed it.
  private func stop(_ reason: String) -> Int32 {
    notifier.stopping()
    // The motors first; the service can wait for a client for most of a second.
    runtime.stop()
    takeNotices()
    announcement?.stop()
    service?.service.stop()
    let state = newestSnapshot().state
    guard case .shutDown(.confirmed) = state else {
      logger.critical(
        "the motors have not confirmed their stop\(guardLink == nil ? "" : "; the guard goes on trying")",
        metadata: ["reason": .string(reason), "state": .string("\(state)")])
      return 1
    }
    guardLink?.sayGoodbye()
    logger.info("stopped", metadata: ["reason": .string(reason)])
    return 0
  }
}

extension Logger {
  /// One line for a change of the robot.
  fileprivate func log(_ notice: RobotNotice) {
    switch notice.subject {
    case .state(let state):
      var metadata: Logger.Metadata = ["system": "robot", "state": .string("\(state)")]
      if let wayOut = state.wayOut { metadata["way_out"] = .string(wayOut) }
      log(level: state.logLevel, "robot", metadata: metadata)
    case .motorsFail(let failure):
      warning("motor write failed", metadata: ["system": "robot", "failure": .string("\(failure)")])
    case .motorsAnswer:
      self.notice("the motors answer again", metadata: ["system": "robot"])
    }
  }

}

extension RobotState {
  fileprivate var logLevel: Logger.Level {
    switch self {
    case .stopped, .driving, .shutDown: .info
    case .emergencyStopped: .warning
    case .fault: .error
    }
  }
}
