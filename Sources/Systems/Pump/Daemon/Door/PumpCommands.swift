import Pump
import Service
import Tactus
import Wire

/// Commands to a pump's loop over HTTP, each answered when the loop has taken it: what the doors of both sides share.
struct PumpCommands<Order: Sendable>: Sendable {
  let ask: @Sendable (Order) async throws -> PumpAnswer
  /// As it is now.
  let state: @Sendable () -> PumpStateDocument

  /// Throws the refusal when the loop refuses.
  func perform(_ order: Order) async throws -> PumpAnswer { try accepted(try await ask(order)) }

  func accepted(_ answer: PumpAnswer) throws(APIError) -> PumpAnswer {
    if case .ignored(let reason) = answer.verdict { throw reason.error(wayOut: state().wayOut) }
    return answer
  }

  func answered(_ answer: PumpAnswer, logValue: String? = nil) -> APIResponse {
    .json(PumpCommandDocument(pump: state(), monotonicNs: answer.at.nanoseconds), logValue: logValue)
  }

  /// Nothing to reset is no error here: what was asked for is so.
  func reset(_ order: Order) async throws {
    let answer = try await ask(order)
    if answer.verdict != .ignored(.nothingToReset) { _ = try accepted(answer) }
  }

  // MARK: routes

  /// `POST /api/pump/WORD`
  func route(_ word: String, _ order: Order) -> Route {
    Route(.post, "/api/pump/\(word)", scope: .control, action: "pump.\(word)") { _ in answered(try await perform(order))
    }
  }

  func speedRoute(_ order: @escaping @Sendable (PumpSpeed) -> Order) -> Route {
    Route(.post, "/api/pump/speed", scope: .control, action: "pump.speed") { request in
      let wanted = try request.decode(PumpSpeedBody.self).speed
      return answered(try await perform(order(wanted)), logValue: "duty=\(wanted.duty)")
    }
  }

  /// - Parameter turnOn: with the speed that is wanted, if any.
  func onRoute(_ turnOn: @escaping @Sendable (PumpSpeed?) async throws -> PumpAnswer) -> Route {
    Route(.post, "/api/pump/on", scope: .control, action: "pump.on") { request in
      let wanted = request.body.isEmpty ? nil : try request.decode(PumpOnBody.self).speed
      return answered(try await turnOn(wanted), logValue: wanted.map { "duty=\($0.duty)" })
    }
  }
}
