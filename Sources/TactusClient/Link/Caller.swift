import Foundation

/// Sends requests, decodes answers, and repeats requests that may be repeated.
struct Caller: Sendable {
  /// The longest waits before the second, third and fourth attempt. Each wait is random between half of its longest and
  /// its longest.
  static let longestWaits: [Duration] = [.seconds(1), .seconds(2), .seconds(2)]

  let transport: any Transport
  let token: String?
  let clock: any ClientClock
  let random: any RandomSource

  /// Sends a request and decodes its answer.
  func call<Answer: Decodable & Sendable>(_ request: ClientRequest, as type: Answer.Type) async throws(ClientError)
    -> Answer
  {
    try Self.decode(try await call(request), as: type)
  }

  /// Sends a request and returns the body of the answer. Throws if the daemon refuses or is not reached.
  ///
  /// A request that makes the system safe is sent up to four times while the daemon is not reached or overloaded; every other one once.
  @discardableResult
  func call(_ request: ClientRequest) async throws(ClientError) -> Data {
    var waits = request.kind == .makesSafe ? Self.longestWaits[...] : []
    while true {
      let failure: ClientError
      do throws(ClientError) {
        return try await once(request)
      } catch {
        failure = error
      }
      guard Self.mayPass(failure), let longest = waits.popFirst() else { throw failure }
      do { try await clock.wait(for: longest * (0.5 + 0.5 * random.fraction())) } catch { throw failure }
    }
  }

  private func once(_ request: ClientRequest) async throws(ClientError) -> Data {
    let answer = try await transport.answer(to: request, token: token)
    guard (200..<300).contains(answer.status) else { throw .refused(Refusal(answer)) }
    return answer.body
  }

  /// Returns whether the same request may succeed a moment later.
  private static func mayPass(_ error: ClientError) -> Bool {
    switch error {
    case .unreachable: true
    case .refused(let refusal): refusal.status == 503 || refusal.code == "STALE"
    case .unintelligible, .invalid: false
    }
  }

  /// Decodes a document; the error names the member that is wrong.
  static func decode<Value: Decodable & Sendable>(_ data: Data, as type: Value.Type) throws(ClientError) -> Value {
    do {
      return try JSONDecoder().decode(type, from: data)
    } catch let error as DecodingError {
      throw .unintelligible("\(type): \(describe(error))")
    } catch {
      throw .unintelligible("\(type): \(error)")
    }
  }

  private static func describe(_ error: DecodingError) -> String {
    func path(_ context: DecodingError.Context) -> String {
      context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
    }
    return switch error {
    case .keyNotFound(let key, let context): "\(path(context)): expected a member \(key.stringValue), got none"
    case .typeMismatch(let type, let context): "\(path(context)): expected \(type), got something else"
    case .valueNotFound(let type, let context): "\(path(context)): expected \(type), got null"
    case .dataCorrupted(let context): "\(path(context)): \(context.debugDescription)"
    @unknown default: "\(error)"
    }
  }

  /// Encodes the body of a request.
  static func body(_ value: some Encodable) throws(ClientError) -> Data {
    do {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      return try encoder.encode(value)
    } catch {
      throw .invalid(field: "body", message: "expected finite numbers: \(error)")
    }
  }
}
