import Foundation
import Service

/// What a daemon said at one moment.
struct TopSample {
  var runtime: RuntimeDocument
  var systems: [System]

  struct System: Equatable {
    var name: String
    /// `driving`, `fault: …`.
    var state: String
    /// Emergency stop or fault: a person has to act.
    var isAlarm: Bool
    var isEmergencyStopped: Bool
  }

  init(runtime: RuntimeDocument, systems: [System]) {
    (self.runtime, self.systems) = (runtime, systems)
  }

  /// From the bodies of `GET /api/runtime?histograms=1` and `GET /api/status`; nil when they are none.
  init?(runtime: [UInt8], status: [UInt8]) {
    guard let document = try? JSONDecoder().decode(RuntimeDocument.self, from: Data(runtime)),
      let answer = try? JSONSerialization.jsonObject(with: Data(status)) as? [String: Any],
      let systems = answer["systems"] as? [String: Any]
    else { return nil }
    self.runtime = document
    self.systems = systems.keys.sorted().map { name in
      let members = systems[name] as? [String: Any]
      let state = members?["state"] as? String ?? "unknown"
      let reason = (members?["reason"] as? String).map { ": \($0)" } ?? ""
      let isEmergencyStopped = state.lowercased().hasPrefix("emergency")
      return System(
        name: name, state: state + reason, isAlarm: isEmergencyStopped || state == "fault",
        isEmergencyStopped: isEmergencyStopped)
    }
  }
}
