@_spi(FromOutside) import Conversions
import Service
import Sprinkler
import TactusDaemon

/// The state of the valves in words, which name zones as people know them.
struct StateSeen: Sendable {
  let state: IrrigationState
  /// The line that caused the fault, or `nil` if none did.
  let faultLine: LineSeen?
  /// The lines whose level is not the one that was written, as last read back.
  let differing: [LineSeen]
  /// The fault in words that do not name the parts connected to lines, or `nil` if the state is not a fault.
  private let cause: String?

  /// Describes a state of the valves.
  ///
  /// - Parameter differing: the lines whose present level is not the one that was written. `nil` stands for the line
  ///   that the fault names, for a fault that has just occurred.
  init(_ state: IrrigationState, _ lines: NamedLines, differing: [LineSeen]? = nil) {
    self.state = state
    if case .fault(.lineDiffers(let line, let isActive)) = state {
      faultLine = lines.line(Int(line), isOn: isActive)
    } else {
      faultLine = nil
    }
    self.differing = differing ?? (faultLine.map { [$0] } ?? [])
    if case .fault(let fault) = state { cause = lines.text(of: fault) } else { cause = nil }
  }

  var word: String { state.word }

  /// The fault in words, or `nil` if the state is not a fault.
  var fault: String? {
    guard let cause else { return nil }
    var causes = differing.map { $0.faultText() }
    if let faultLine {
      if !differing.contains(faultLine) { causes.insert(faultLine.faultText(isNow: false), at: 0) }
    } else {
      causes.insert(cause, at: 0)
    }
    return causes.joined(separator: "; ")
  }

  /// The state in words.
  var reason: String {
    switch state {
    case .idle: "every valve is closed"
    case .watering: "watering"
    case .paused: "paused"
    case .fault: ["fault", fault].compactMap(\.self).joined(separator: ": ")
    case .emergencyStopped: (["emergency stop"] + differing.map { $0.faultText() }).joined(separator: "; ")
    case .shutDown: "shut down"
    }
  }

  /// The actions that lead out of the state, in words, or `nil` if none is needed.
  var wayOut: String? {
    switch state {
    case .idle, .watering, .shutDown: nil
    case .paused: "resume, or wait"
    // A reset is refused until every line has been read back as off.
    case .fault, .emergencyStopped:
      differing.contains(where: \.isOn) ? "close the main tap, and reset when it is off" : "reset"
    }
  }

  /// The state in the words of the log, where a fault names the zones.
  var logged: String { fault == nil ? "\(state)" : reason }
}

// The words of the documents for the sprinkler's states.
extension IrrigationState {
  /// The value of `state` in the API.
  var word: String {
    switch self {
    case .idle: "idle"
    case .watering: "watering"
    case .paused: "paused"
    case .fault: "fault"
    case .emergencyStopped: "emergencyStopped"
    case .shutDown: "shutDown"
    }
  }

  /// The value of the label `state` of the metric of the state.
  enum MetricWord: String, Word {
    case idle, watering, paused, fault
    case emergencyStopped = "emergency_stopped"
    case shutDown = "shut_down"
  }

  var metricWord: MetricWord {
    switch self {
    case .idle: .idle
    case .watering: .watering
    case .paused: .paused
    case .fault: .fault
    case .emergencyStopped: .emergencyStopped
    case .shutDown: .shutDown
    }
  }
}

extension ZoneRun.Source {
  var word: String {
    switch self {
    case .manual: "manual"
    case .program: "schedule"
    case .once: "once"
    case .resumed: "resumed"
    }
  }

  /// The id of the program, or `nil` if the run belongs to no program.
  var program: Int? {
    switch self {
    case .manual: nil
    case .program(let id), .once(let id), .resumed(let id): id > 0 ? Int(id) : nil
    }
  }
}
