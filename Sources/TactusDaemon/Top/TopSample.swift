import Foundation
import Service

/// What a daemon said at one moment.
struct TopSample {
  var runtime: RuntimeDocument
  var systems: [System]

  struct System: Equatable {
    var name: String
    /// `driving by 192.168.1.7:50000`, and what a person has to do about it where that is something.
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
    self.systems = systems.keys.sorted().map { System($0, systems[$0] as? [String: Any] ?? [:]) }
  }
}

extension TopSample.System {
  /// From a system's state: `state`, and where the system has them `reason`, `wayOut`, `emergencyStopped` and `fault`.
  fileprivate init(_ name: String, _ members: [String: Any]) {
    self.name = name
    let wayOut = (members["wayOut"] as? String).map { "; \($0)" } ?? ""
    // A system need not have a state in a word.
    let unnamed = members.isEmpty || members["state"] != nil ? "unknown" : "runs"
    state = (members["reason"] as? String ?? members["state"] as? String ?? unnamed) + wayOut
    isEmergencyStopped = members["emergencyStopped"] as? Bool ?? false
    isAlarm = isEmergencyStopped || members["fault"] is String
  }
}
