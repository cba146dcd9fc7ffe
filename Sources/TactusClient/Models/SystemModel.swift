import Foundation

/// The common part of all models of systems: they send requests, show requested values until the daemon confirms them, and keep the
/// last failure.
@MainActor
protocol SystemModel: AnyObject {
  associatedtype Expected: Hashable & Sendable
  var link: DaemonLink { get }
  var expectations: Expectations<Expected, JSONValue> { get set }
}

extension SystemModel {
  /// Sends a command with a body and decodes the answer.
  func send<Answer: Decodable & Sendable>(
    _ path: String, _ body: some Encodable, method: String = "POST", as type: Answer.Type
  ) async throws(ClientError) -> Answer {
    try await link.caller.call(
      ClientRequest(method, path, body: try Caller.body(body), kind: .act), as: type)
  }

  /// Sends a command that starts or changes something. The command is sent only once, whatever its outcome.
  func send(_ path: String, _ body: some Encodable, method: String = "POST") async throws(ClientError) {
    try await link.caller.call(ClientRequest(method, path, body: try Caller.body(body), kind: .act))
  }

  /// Sends a command without a body.
  func send(_ path: String, method: String = "POST", kind: ClientRequest.Kind = .act) async throws(ClientError) {
    try await link.caller.call(ClientRequest(method, path, kind: kind))
  }

  /// Returns a path with those values of a query that are not `nil`.
  static func path(_ path: String, _ query: KeyValuePairs<String, String?>) -> String {
    let words = query.compactMap { member in member.value.map { "\(member.key)=\(Endpoint.escaped($0))" } }
    return words.isEmpty ? path : path + "?" + words.joined(separator: "&")
  }

  /// Returns an instant in ISO 8601, to the second.
  static func text(_ instant: Date?) -> String? { instant?.formatted(.iso8601) }

  /// Sends a request that only reads.
  func fetch<Answer: Decodable & Sendable>(_ path: String, as type: Answer.Type) async throws(ClientError) -> Answer {
    try await link.caller.call(ClientRequest("GET", path, kind: .look), as: type)
  }

  /// Shows values until the daemon reports them, for at most 3 s from now, while `command` requests them. If the daemon refuses, the reported ones
  /// are shown again.
  func expecting(
    _ values: [Expected: JSONValue], _ command: () async throws(ClientError) -> Void
  ) async throws(ClientError) {
    let now = link.clock.now
    var numbers: [Expected: Int] = [:]
    for (key, value) in values { numbers[key] = expectations.expect(value, for: key, at: now) }
    if !values.isEmpty {
      Task { [weak self, clock = link.clock] in
        try? await clock.wait(for: Expectations<Expected, JSONValue>.patience)
        self?.expectations.expire(at: clock.now)
      }
    }
    do throws(ClientError) {
      try await command()
    } catch {
      for (key, number) in numbers { expectations.giveUp(number, for: key) }
      throw error
    }
  }
}
