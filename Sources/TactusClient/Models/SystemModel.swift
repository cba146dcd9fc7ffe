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

  /// Sends a request that only reads.
  func look<Answer: Decodable & Sendable>(_ path: String, as type: Answer.Type) async throws(ClientError) -> Answer {
    try await link.caller.call(ClientRequest("GET", path, kind: .look), as: type)
  }

  /// Shows a value until the daemon reports it, while `command` requests it. If the daemon refuses, the previous value is shown again.
  func expecting(
    _ value: JSONValue, for key: Expected, _ command: () async throws(ClientError) -> Void
  ) async throws(ClientError) {
    let number = expectations.expect(value, for: key, at: link.clock.now)
    do throws(ClientError) {
      try await command()
    } catch {
      expectations.giveUp(number, for: key)
      throw error
    }
    expectations.renew(number, for: key, at: link.clock.now)
    Task { [weak self, clock = link.clock] in
      try? await clock.wait(for: Expectations<Expected, JSONValue>.patience)
      self?.expectations.expire(at: clock.now)
    }
  }
}

/// An answer whose JSON body is not used.
struct Done: Decodable {}
