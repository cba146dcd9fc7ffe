import Foundation
import Service
import Wire

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
    /// Whether the system, or a part of it such as a leg, is in fault.
    var isFault: Bool
    /// The further troubles that a person has to do something about, in words: `no contact (down)`.
    var troubles: [String]
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
    guard case .object(let systems)? = JSONValue(json: status)?["systems"] else { return nil }
    return systems.sorted { $0.name < $1.name }.map { System($0.name, $0.value) }
  }
}

extension TopSample.System {
  /// Reads a system's state by the rules of the page: `state` and, if the system has them, `reason`, `wayOut`, `emergencyStopped` and `fault`, which its
  /// parts may have, too; and the members from which notices are made. The words are those of the first part that is
  /// stopped or in fault, unless the system itself is and says why.
  fileprivate init(_ name: String, _ document: JSONValue) {
    self.name = name
    let word = document["state"]?.string
    // A system need not have a state in a word.
    let unnamed = document.members.isEmpty || document["state"] != nil ? "unknown" : "runs"
    let parts = document.members.flatMap { $0.value.items }.filter { $0["state"]?.string != nil }
    let stopped = parts.filter(Self.isStopped)
    let failed = parts.filter(Self.isFailed)
    isEmergencyStopped = Self.isStopped(document) || !stopped.isEmpty
    let isFault = Self.isFailed(document) || !failed.isEmpty
    self.isFault = isFault
    let saysWhy = document["reason"]?.string != nil && (Self.isStopped(document) || Self.isFailed(document))
    if !saysWhy, let first = stopped.first ?? failed.first {
      let count = parts.count(where: { Self.isStopped($0) || Self.isFailed($0) })
      let more = count > 1 ? "; and \(count - 1) more" : ""
      state = (NoticeFacts.name(of: first).map { "\($0): " } ?? "") + Self.text(of: first, unnamed: "unknown") + more
    } else {
      state = Self.text(of: document, unnamed: unnamed)
    }
    isAlarm = isEmergencyStopped || isFault
    let system = NoticeFacts.System(name: name, state: document, isEmergencyStopped: false)
    troubles = NoticeFacts.conditions(of: system)
      .filter { $0.severity >= .warning && !(isFault && $0.kind == .fault) }
      .map(\.text)
    if !isAlarm, troubles.isEmpty, let word, Self.isTrouble(word) { troubles = [NoticeFacts.readableName(of: word)] }
  }

  private static func isStopped(_ thing: JSONValue) -> Bool {
    thing["emergencyStopped"] == .boolean(true) || thing["state"]?.string == "emergencyStopped"
  }

  private static func isFailed(_ thing: JSONValue) -> Bool {
    thing["fault"]?.string != nil || thing["state"]?.string == "fault"
  }

  /// Returns the state of a system or a part of one in words with the way out of it; `unnamed` if it has no state.
  private static func text(of thing: JSONValue, unnamed: String) -> String {
    let fault = thing["fault"]?.string.map { "fault: \($0)" }
    let words = thing["reason"]?.string ?? fault ?? thing["state"]?.string.map(NoticeFacts.readableName)
    return (words ?? unnamed) + (thing["wayOut"]?.string.map { "; \($0)" } ?? "")
  }

  /// Whether a state is trouble by its name, as in `motorStalled`.
  private static func isTrouble(_ word: String) -> Bool {
    let word = word.lowercased()
    return ["stall", "fault", "fail", "error", "jam", "block", "lost"].contains { word.contains($0) }
  }
}
