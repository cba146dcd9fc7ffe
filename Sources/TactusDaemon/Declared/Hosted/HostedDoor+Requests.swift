import Service
import Tactus

// How a request becomes an order, and an answer an error.

extension Mailbox {
  /// Sends a request to the loop. `complete` is called once, on any thread.
  ///
  /// - Parameter asked: the part of the system that a client's request concerns, with the instant of the request; see `send(isStop:_:_:_:)`.
  func send<Order, Refusal>(
    _ order: Order, makesSafe: Bool, client: UInt32, asked: Asked? = nil, _ complete: @escaping Completion
  ) where Request == Tactus.Request<Order>, Answer == Tactus.Answer<Refusal> {
    send(
      isStop: makesSafe, asked,
      {
        Tactus.Request(
          number: $0, issued: $1, asked: asked?.at, makesSafe: makesSafe, client: client, order: order)
      }, complete)
  }

  /// Sends a request to the loop and returns the answer.
  func ask<Order, Refusal>(
    _ order: Order, makesSafe: Bool, client: UInt32, asked: Asked?
  ) async throws -> Answer where Request == Tactus.Request<Order>, Answer == Tactus.Answer<Refusal> {
    try await withCheckedThrowingContinuation { continuation in
      send(order, makesSafe: makesSafe, client: client, asked: asked) { continuation.resume(with: $0) }
    }
  }
}

extension Answer where Refusal: RefusalWord {
  /// Returns the answer, or throws the error of a refused command: 409 with the code and the sentence of the refusal, or with `STALE`. For a desk
  /// that has asked its loop: `try await orders.ask(.dose, from: caller).accepted()`.
  @discardableResult
  public func accepted() throws(APIError) -> Answer { try accepted { $0.sentence } }

  /// Returns the answer, or throws an `APIError` with status 409 if the loop refused the order.
  ///
  /// - Parameter sentence: returns the sentence that explains a refusal.
  func accepted(_ sentence: (Refusal) -> String) throws(APIError) -> Answer {
    switch verdict {
    case .accepted: return self
    case .refused(let refusal): throw .conflict(refusal.code, sentence(refusal))
    case .stale: throw .conflict("STALE", "the command waited too long for its loop and did nothing; send it again")
    }
  }
}

extension APIError {
  /// Returns the 409 error of a refusal, for a route that is refused for the same reason as a command.
  public static func refused(_ refusal: some RefusalWord) -> APIError { .conflict(refusal.code, refusal.sentence) }
}

extension CommandScope {
  var scope: Scope {
    switch self {
    case .control: .control
    case .admin: .admin
    }
  }
}

extension Command {
  /// Returns the order of a request, and its text for the log: every parameter with its value in effect, unless it has none.
  func read(_ request: APIRequest, _ index: Int) throws(APIError) -> (Order, logValue: String?) {
    try request.decode { (body) throws(APIError) in
      let order = try read(&body, index)
      let words = parameters.compactMap { parameter -> String? in
        let given = body.summary(parameter.name)
        let isGiven = given != "nothing" && given != "null"
        let value = isGiven ? given : parameter.standard?.json.summary
        return value.map { "\(parameter.name)=\($0)" }
      }
      return (order, words.isEmpty ? nil : words.joined(separator: " "))
    }
  }

  /// Returns the names of the command in a scenario: `arm`, or `0/arm`, `1/arm` and so on for a command for items.
  package func scenarioNames(in wiring: any Settings) -> [String] {
    guard let items else { return [name] }
    return (0..<items.count(wiring)).map { "\($0)/\(name)" }
  }
}

extension APIRequest {
  /// A request with an empty object, for a command that takes none.
  static let empty = APIRequest(
    caller: Caller(scope: .read, tokenID: nil, address: "", client: 0), body: Array("{}".utf8))
}
