import Foundation
import Tactus

/// Decides from the answers of `GET /api/health` whether a daemon is healthy: it must be healthy without a break for
/// some time, and by a certain deadline. The time is passed in.
struct HealthWatch {
  enum Answer {
    case document(status: Int, body: [UInt8])
    /// The daemon did not answer, for the given reason.
    case silence(String)
  }

  enum Verdict: Equatable {
    /// The daemon is healthy; the text names its version and the states of its systems.
    case healthy(String)
    /// The daemon is not healthy for the given reason, and the time is over or waiting would not help.
    case unhealthy(String)
    case askAgain
  }

  private struct Document: Decodable {
    var ok: Bool
    var status: String
    var version: String?
    var message: String?
    var systems: [String: String?]
    /// The state of the guard, or `nil` if the daemon's version does not report it.
    var `guard`: Guard?
  }

  private struct Guard: Decodable {
    var state: String
    var replacements: Int
  }

  private let end: TickInstant
  private let within: Nanoseconds
  private let steady: Nanoseconds
  private let version: String?
  private let loopsOnly: Bool
  /// The time since which the daemon has been healthy, or `nil` if it is not.
  private var healthySince: TickInstant?
  /// The number of guard replacements in the last answer, or `nil` if it did not report that.
  private var guardReplacements: Int?

  /// Starts to watch a daemon.
  ///
  /// - Parameters:
  ///   - start: the time of the first request.
  ///   - limit: the time after `start` by which the daemon must have been healthy for `steady`.
  ///   - version: the only version that counts as healthy, or `nil` if any does.
  ///   - loopsOnly: whether a daemon with an unusable store or a system in a fault also counts as healthy.
  init(since start: TickInstant, within limit: Nanoseconds, steady: Nanoseconds, version: String?, loopsOnly: Bool) {
    end = start + limit
    within = limit
    self.steady = steady
    self.version = version
    self.loopsOnly = loopsOnly
  }

  mutating func receive(_ answer: Answer, at now: TickInstant) -> Verdict {
    let summary: String
    switch judge(answer) {
    case .failure(let trouble):
      healthySince = nil
      return now < end ? .askAgain : .unhealthy("\(trouble.text), after \(within.count / 1_000_000_000) s")
    case .success(let text): summary = text
    }
    let since = healthySince ?? now
    healthySince = since
    if now - since >= steady { return .healthy(summary) }
    return now < end
      ? .askAgain
      : .unhealthy("healthy for less than \(steady.count / 1_000_000_000) s within \(within.count / 1_000_000_000) s")
  }

  private struct Trouble: Error {
    var text: String
  }

  private mutating func judge(_ answer: Answer) -> Result<String, Trouble> {
    switch answer {
    case .silence(let reason): return .failure(Trouble(text: "the daemon does not answer: \(reason)"))
    case .document(let status, let body):
      guard let document = try? JSONDecoder().decode(Document.self, from: Data(body)) else {
        return .failure(Trouble(text: "what answers is not tactus: status \(status)"))
      }
      guard document.status == "ok" || (loopsOnly && document.ok) else {
        return .failure(Trouble(text: "\(document.status): \(document.message ?? "status \(status)")"))
      }
      if let version, document.version != version {
        return .failure(
          Trouble(text: "version \(version) was expected, version \(document.version ?? "unknown") answers"))
      }
      let replaced = document.guard.map { $0.replacements &- (guardReplacements ?? $0.replacements) } ?? 0
      guardReplacements = document.guard?.replacements
      guard replaced == 0 || loopsOnly else { return .failure(Trouble(text: "the guard had to be replaced")) }
      let states = document.systems.map { ($0.key, $0.value ?? "running") }.sorted { $0.0 < $1.0 }
      let faults = states.filter { $0.1 == "fault" }.map(\.0)
      guard faults.isEmpty || loopsOnly else {
        return .failure(Trouble(text: "in a fault: \(faults.joined(separator: ", "))"))
      }
      return .success(
        (["tactus \(document.version ?? "")"] + states.map { "\($0.0) \($0.1)" }
          + (document.guard.map { $0.state == "none" ? "no guard" : "guard \($0.state)" }.map { [$0] } ?? []))
          .joined(separator: ", "))
    }
  }
}
