import Foundation
import Tactus

/// Decides from the answers of `GET /api/health` whether a daemon is healthy: it must be so without a break for a while, and by
/// a certain time. Time is passed in.
struct HealthWatch {
  enum Answer {
    case document(status: Int, body: [UInt8])
    /// The daemon did not answer; the text says why.
    case silence(String)
  }

  enum Verdict: Equatable {
    /// With what it runs.
    case healthy(String)
    /// The time is up, or waiting would not help; why it is not healthy.
    case unhealthy(String)
    case askAgain
  }

  private struct Document: Decodable {
    var ok: Bool
    var status: String
    var version: String?
    var message: String?
    var systems: [String: String?]
    /// `nil` if the daemon's version does not report its guard.
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
  /// When it began to be healthy, or `nil` if it is not.
  private var healthySince: TickInstant?
  /// The number of replaced guards in the last answer.
  private var guardReplacements: Int?

  /// - Parameters:
  ///   - start: when the first question is asked.
  ///   - limit: how long after that the daemon must have been healthy for `steady`.
  ///   - version: the only version that counts as healthy, or `nil` if any does.
  ///   - loopsOnly: whether a store that cannot be used and a system in a fault are healthy, too.
  init(since start: TickInstant, within limit: Nanoseconds, steady: Nanoseconds, version: String?, loopsOnly: Bool) {
    end = start + limit
    within = limit
    self.steady = steady
    self.version = version
    self.loopsOnly = loopsOnly
  }

  mutating func take(_ answer: Answer, at now: TickInstant) -> Verdict {
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
