import Foundation
import Service

/// The state of a daemon at one moment, from its answers.
struct TopSample {
  var runtime: RuntimeDocument
  var systems: [System]

  struct System: Equatable {
    var name: String
    /// The state in words: `driving by 192.168.1.7:50000`, followed by what a person has to do about it, if anything.
    var state: String
    /// Whether the system is in an emergency stop or a fault, so that a person has to act.
    var isAlarm: Bool
    var isEmergencyStopped: Bool
  }

  init(runtime: RuntimeDocument, systems: [System]) {
    (self.runtime, self.systems) = (runtime, systems)
  }

  /// Reads the bodies of `GET /api/runtime?histograms=1` and `GET /api/status`. Returns `nil` if they do not have the expected form.
  init?(runtime: [UInt8], status: [UInt8]) {
    guard let document = try? JSONDecoder().decode(RuntimeDocument.self, from: Data(runtime)),
      let systems = Self.systems(status)
    else { return nil }
    self.runtime = document
    self.systems = systems
  }

  /// Returns the systems in the body of `GET /api/status` by their names, or `nil` if it does not have the expected form.
  static func systems(_ status: [UInt8]) -> [System]? {
    let answer = try? JSONSerialization.jsonObject(with: Data(status)) as? [String: Any]
    guard let systems = answer?["systems"] as? [String: Any] else { return nil }
    return systems.keys.sorted().map { System($0, systems[$0] as? [String: Any] ?? [:]) }
  }
}

extension TopSample.System {
  /// Reads a system's state: `state` and, if the system has them, `reason`, `wayOut`, `emergencyStopped` and `fault`.
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
