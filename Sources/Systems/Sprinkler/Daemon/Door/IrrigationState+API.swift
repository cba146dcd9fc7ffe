@_spi(FromOutside) import Conversions
import Service
import Sprinkler
import TactusDaemon

// What the sprinkler does, in the words of its documents.
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
