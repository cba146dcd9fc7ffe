import Buses
import BusesLinux
import Logging
import Pump
import Service
import Tactus
import Wire

/// The cooling pump in the daemon: its line and its lane.
final class DaemonPump: DaemonSystem {
  let name = "pump"
  let loopName = "pump"
  let simulation: SimulatedSurroundings?
  private let configuration: Configuration.Pump
  private let hardware: PumpHardware
  private let door: PumpDoor
  private let snapshot = Latest(PumpSnapshot())
  private let requests = Ring<PumpRequest>(capacity: PumpOperatorLoop.requestsPerTick)
  private let answers = Ring<PumpAnswer>(capacity: 256)
  private let noticeRing = Ring<PumpNotice>(capacity: 256)
  private let requestBell: Doorbell
  private var notices: RingReader<PumpNotice>
  private var isOffSaid = false

  /// The descriptor of a line whose connection is lost.
  private enum Line {
    /// For so many seconds without a connection.
    case open(seconds: Int)
    case detached
  }
  private var line = Line.open(seconds: 0)
  /// The loop tries at least so often.
  private static let attemptSeconds = 6

  /// Opens the line. Nothing is written to it yet.
  init(_ pump: Configuration.Pump, simulate: Bool) throws {
    configuration = pump
    hardware = try PumpHardware(pump, simulate: simulate)
    notices = noticeRing.reader()
    let bell = try Doorbell()
    requestBell = bell
    door = PumpDoor(
      requests: requests.writer(), answers: answers.reader(), snapshot: snapshot, ring: { bell.button.ring() })
    simulation = hardware.simulated.map { _ in SimulatedSurroundings(buses: [], lanes: [:]) }
  }

  var endpoints: [Endpoint] { [] }
  var startMetadata: Logger.Metadata { ["pump": .string(hardware.line.path)] }
  var heartbeat: LatestVersion { snapshot.version }

  func lane(bell: DoorbellButton) -> Lane {
    Lane("pump") {
      Loop(
        loopName, every: PumpOperatorLoop.rate, late: .skip, safeStateAfter: 10,
        inputs: [.descriptor(hardware.line.descriptor), requestBell.loopInput],
        // A line that is gone polls readable until it is opened anew.
        minimumInterval: .milliseconds(10)
      ) {
        PumpOperatorLoop(
          configuration.settings, link: PumpLink(serial: hardware.line.port()), requests: requests.reader(),
          requestBell: requestBell.input, answers: answers.writer(), snapshot: snapshot.writer(),
          notices: noticeRing.writer(), bell: bell)
      }
      if let simulated = hardware.simulated { simulated.loop("pump.simulated") }
    }
  }

  var served: any ServedSystem { door }
  var metrics: any MetricSource { PumpMetrics(door) }

  func takeAnswers(at now: TickInstant) { door.takeAnswers(at: now) }

  func takeNotices(_ logger: Logger) -> [Event] {
    var events: [Event] = []
    while let notice = notices.pop() {
      log(notice, logger)
      events.append(door.edge(notice))
    }
    return events
  }

  /// A line whose device has gone is opened anew as soon as there is one. The loop then finds it at its next attempt.
  func report(_ logger: Logger) {
    guard hardware.simulated == nil, case .down = newest.contact else {
      line = .open(seconds: 0)
      return
    }
    do throws(BusOpenError) {
      switch line {
      case .open(let seconds) where seconds < Self.attemptSeconds: line = .open(seconds: seconds + 1)
      case .open:
        try hardware.line.detach()
        line = .detached
      case .detached:
        try hardware.line.reopen()
        line = .open(seconds: 0)
        logger.notice(
          "the pump's line is open again", metadata: ["system": "pump", "line": .string(configuration.device)])
      }
    } catch {
      logger.debug("the pump's line cannot be opened", metadata: ["system": "pump", "reason": .string("\(error)")])
    }
  }

  /// The loop had no time to wait for the pump's word.
  func finish(_ logger: Logger) {
    guard hardware.simulated == nil, newest.state != .shutDown(.confirmed) else { return }
    do {
      isOffSaid = try PumpFarewell(line: hardware.line).say()
    } catch {
      logger.warning("the pump's line fails", metadata: ["system": "pump", "failure": .string("\(error)")])
    }
  }

  var unconfirmed: (message: String, state: String)? {
    if let simulated = hardware.simulated {
      let state = simulated.newest.state
      return state == .shutDown(.confirmed) ? nil : ("the simulated pump is not off", "\(state)")
    }
    let state = newest.state
    return isOffSaid || state == .shutDown(.confirmed)
      ? nil : ("the pump has not confirmed that it is off", "\(state)")
  }

  private var newest: PumpSnapshot {
    var reader = snapshot.reader()
    return reader.read()
  }

  /// One line for a change of the pump or of its connection.
  private func log(_ notice: PumpNotice, _ logger: Logger) {
    switch notice.subject {
    case .state(let state, let source):
      var metadata: Logger.Metadata = ["system": "pump", "state": .string("\(state)")]
      if let source { metadata["source"] = .string("\(source)") }
      if let wayOut = state.wayOut { metadata["way_out"] = .string(wayOut) }
      logger.log(level: state.logLevel, "pump", metadata: metadata)
    case .contact(let contact):
      logger.log(
        level: contact.isAnswering ? .info : .notice, "the pump's connection",
        metadata: ["system": "pump", "contact": .string("\(contact)")])
    case .failed(let failure):
      logger.warning("a command to the pump failed", metadata: ["system": "pump", "failure": .string("\(failure)")])
    }
  }
}

extension PumpOperatorState {
  fileprivate var logLevel: Logger.Level {
    switch self {
    case .off, .starting, .on, .shutDown: .info
    case .unknown, .emergencyStopped, .fault(.runLimit, _): .warning
    case .fault: .error
    }
  }
}
