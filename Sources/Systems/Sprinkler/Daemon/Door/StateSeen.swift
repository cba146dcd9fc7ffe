@_spi(FromOutside) import Conversions
import Sprinkler

/// The state of the valves in words, which name zones as people know them.
struct StateSeen: Sendable {
  let state: IrrigationState
  /// The line that caused the fault, or `nil` if none did.
  let faultLine: LineSeen?
  /// The lines whose level is not the one that was written, as last read back.
  let differing: [LineSeen]

  /// - Parameter differing: the lines whose level is not the one that was written now, or `nil` if that is the line which the fault names,
  ///   since the fault is of this moment.
  init(_ state: IrrigationState, _ lines: NamedLines, differing: [LineSeen]? = nil) {
    self.state = state
    if case .fault(.lineDiffers(let line, let isActive)) = state {
      faultLine = lines.line(Int(line), isOn: isActive)
    } else {
      faultLine = nil
    }
    self.differing = differing ?? (faultLine.map { [$0] } ?? [])
  }

  var word: String { state.word }

  /// The fault in words, or `nil` if the state is not a fault.
  var fault: String? {
    guard case .fault(let cause) = state else { return nil }
    var causes = differing.map { $0.words() }
    if let faultLine {
      if !differing.contains(faultLine) { causes.insert(faultLine.words(isNow: false), at: 0) }
    } else {
      causes.insert(cause.words, at: 0)
    }
    return causes.joined(separator: "; ")
  }

  /// The state in words.
  var reason: String {
    switch state {
    case .idle: "every valve is closed"
    case .watering: "watering"
    case .paused: "paused"
    case .fault(let cause): "fault: \(fault ?? cause.words)"
    case .emergencyStopped: (["emergency stop"] + differing.map { $0.words() }).joined(separator: "; ")
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

  /// The state as the log says it: the fault of a line by what hangs on it.
  var logged: String { faultLine == nil ? "\(state)" : reason }
}
