import Foundation
import Service

/// The report of `tactus status`, made from a daemon's answers.
struct StatusReport {
  private struct Health: Decodable {
    var status: String
    var message: String?
    var version: String?
    var systems: [String: String?]
    var `guard`: Guard?
    /// The troubles whose cause lies outside the daemon, or `nil` if there are none.
    var warnings: [Warning]?
  }

  private struct Warning: Decodable {
    var message: String
  }

  private struct Guard: Decodable {
    var state: String
    var replacements: Int
    var madeSafe: Int
  }

  private let health: Health
  private let systems: [TopSample.System]?
  private let runtime: RuntimeDocument?

  /// Reads the bodies of `GET /api/health`, `/api/status` and `/api/runtime`. Returns `nil` if the first is not of a daemon.
  ///
  /// - Parameters:
  ///   - status: the body, or `nil` if the daemon has refused it.
  ///   - runtime: the body, or `nil` if the daemon has refused it.
  init?(health: [UInt8], status: [UInt8]?, runtime: [UInt8]?) {
    guard let health = try? JSONDecoder().decode(Health.self, from: Data(health)) else { return nil }
    self.health = health
    systems = status.flatMap(TopSample.systems)
    self.runtime = runtime.flatMap { try? JSONDecoder().decode(RuntimeDocument.self, from: Data($0)) }
  }

  /// Whether there is nothing that a person has to do something about. A system that was turned off is well.
  var isWell: Bool { troubles.isEmpty }

  /// The troubles that a person has to do something about: those of the daemon, of all systems that are stopped or in
  /// fault, of each system, and those whose cause lies outside the daemon.
  private var troubles: [String] {
    var troubles: [String] = []
    if health.status != "ok" { troubles.append(health.status + (health.message.map { ": \($0)" } ?? "")) }
    if !stopped.isEmpty { troubles.append("EMERGENCY STOP, until a reset: \(stopped.joined(separator: ", "))") }
    if !faults.isEmpty { troubles.append("in fault: \(faults.joined(separator: ", "))") }
    for system in systems ?? [] where !system.troubles.isEmpty {
      let more = system.troubles.count > Self.most ? ", and \(system.troubles.count - Self.most) more" : ""
      troubles.append("\(system.name): \(system.troubles.prefix(Self.most).joined(separator: ", "))\(more)")
    }
    return troubles + (health.warnings ?? []).map(\.message)
  }

  /// The greatest number of troubles of one system in the first line.
  private static let most = 3

  /// The names of the systems that are in fault.
  private var faults: [String] {
    let known = (systems ?? []).filter(\.isFault).map(\.name)
    return Set(known + health.systems.filter { $0.value == "fault" }.keys).sorted()
  }

  /// The names of the systems that hold an emergency stop. Without an answer of `/api/status`, the states in the answer
  /// of `/api/health` decide.
  private var stopped: [String] {
    systems?.filter(\.isEmergencyStopped).map(\.name).sorted()
      ?? health.systems.filter { $0.value == "emergencyStopped" }.keys.sorted()
  }

  /// Returns the lines for a terminal or a pipe.
  func lines(host: String) -> [TopScreen.Line] {
    let up = runtime.map { ", up \(TopScreen.upTime($0.monotonicNs &- $0.epochNs))" } ?? ""
    let word = troubles.isEmpty ? "ok" : troubles.joined(separator: "; ")
    var rows: [(String, String)] = []
    if let systems {
      rows += systems.map {
        ($0.name, ($0.isEmergencyStopped ? "EMERGENCY STOP: " : $0.isAlarm ? "FAULT: " : "") + $0.state)
      }
    } else {
      rows += health.systems.sorted { $0.key < $1.key }.map {
        ($0.key, $0.value.map(NoticeFacts.readableName) ?? "unknown")
      }
    }
    if let health = health.guard {
      let replaced = health.replacements == 0 ? "" : ", replaced \(health.replacements) times"
      rows.append(
        (
          "guard",
          health.state + replaced + (health.madeSafe == 0 ? "" : ", has made outputs safe \(health.madeSafe) times")
        ))
    }
    if let runtime { rows.append(("loops", Self.text(of: runtime.loops))) }
    if systems == nil { rows.append(("", "more with a token: --token-file FILE, or TACTUS_TOKEN in the environment")) }
    let width = rows.map(\.0.count).max() ?? 0
    return [TopScreen.Line(text: "\(DaemonProgram.current.name) \(health.version ?? "?") at \(host)\(up): \(word)")]
      + rows.map { name, text in
        TopScreen.Line(text: name.padding(toLength: width + 2, withPad: " ", startingAt: 0) + text)
      }
  }

  private static func text(of loops: [LoopDocument]) -> String {
    let late = loops.compactMap { loop -> String? in
      var words: [String] = []
      if loop.running != nil, loop.overdue > 0 { words.append("hangs") }
      if loop.skipped > 0 { words.append("\(loop.skipped) of \(loop.released) releases given up") }
      if loop.overruns > 0 { words.append("\(loop.overruns) overruns") }
      return words.isEmpty ? nil : "\(loop.name): \(words.joined(separator: ", "))"
    }
    return "\(loops.count), " + (late.isEmpty ? "all in time" : late.joined(separator: "; "))
  }
}
