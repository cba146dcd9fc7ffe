import Buses
@_spi(FromOutside) import Conversions
import Service
import Sprinkler
import TactusDaemon
import WallTime

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

extension IrrigationFault {
  /// The fault in words. Of a line that differs, `StateSeen` knows what hangs on it.
  var words: String {
    switch self {
    case .lines(let error): "the lines do not take what they are told: \(error)"
    case .lineDiffers(let line, let isActive):
      "line \(Int(line) + 1) is \(isActive ? "on" : "off") although told to be \(isActive ? "off" : "on")"
    case .flow(let alarm): alarm.words
    case .missedReleases(let count): "the loop missed \(count) releases in a row"
    }
  }
}

extension FlowAlarm {
  var words: String {
    switch self {
    case .noFlow(let zone): "zone \(zone) is open and no water flows"
    case .highFlow(let zone): "zone \(zone) is open and too much water flows"
    case .leak: "water flows although every valve is closed"
    case .belowLimit(let verdict): verdict.words("less", "at least")
    case .aboveLimit(let verdict): verdict.words("more", "at most")
    }
  }
}

extension ZoneFlowVerdict {
  /// Returns the verdict in words: `zone 3 is open and less water flows than it should: 4 l/min, at least 7 (learnt 2026-07-01T05:50:00Z from 5 runs)`.
  fileprivate func words(_ amount: String, _ bound: String) -> String {
    func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
    let origin =
      limit.runs == 0
      ? "set" : "learnt \(WallTimeText.text(WallInstant(secondsSince1970: limit.learntAt))) from \(limit.runs) runs"
    return
      "zone \(zone) is open and \(amount) water flows than it should: \(tenths(litresPerMinute)) l/min, \(bound) \(tenths(limit.litresPerMinute)) (\(origin))"
  }
}
