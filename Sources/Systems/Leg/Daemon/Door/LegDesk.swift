import Leg
import Service
import Tactus
import TactusDaemon

/// Takes sequences from clients, checks them beside the loop and hands them over. It keeps nothing.
public final class LegDesk: OrderingDesk {
  private let wiring: Legs.Wiring
  private let rules: @Sendable () -> Legs.Rules
  private let newest: @Sendable () -> Published<LegSnapshot>
  private let orders: LoopOrders<LegRequest, LegRefusal>
  private let book: LegSequenceBook?

  init(_ made: DeskMaterial<Legs>) {
    (wiring, rules, newest) = (made.wiring, made.rules, made.newest)
    // An order that makes safe may be late, but a sequence must not begin late.
    orders = made.orders(makesSafe: \.makesSafe, mayBeLate: \.makesSafe)
    book = made.shared()
  }

  public func told(_ told: Told<LegNotice>) {}
  public func beat(_ newest: Published<LegSnapshot>) {}
  public func finish(_ last: Published<LegSnapshot>) {}
  public func hear(_ notices: [Told<LegNotice>], at now: TickInstant) {}

  var routes: [Route] {
    [
      Route(.post, "/api/leg/sequence", scope: .control, action: "leg.sequence") { [self] request in
        try await play(request.decode(LegSequenceBody.self), request.caller)
      }
    ]
  }

  private func play(_ body: LegSequenceBody, _ caller: Caller) async throws -> APIResponse {
    guard let book else { throw APIError(.serviceUnavailable, "UNAVAILABLE", "the legs' loop takes no sequence") }
    let settings = Legs.loopRules(wiring, rules()).all
    let number = book.put(try body.sequence(wiring, settings))
    let answer = try await orders.ask(LegRequest(.play(number), to: .all), from: caller)
    switch answer.verdict {
    case .accepted:
      return .json(
        LegSequenceAnswer(sequence: number, steps: body.steps.count),
        logValue: "steps=\(body.steps.count) repeat=\(body.rounds)")
    case .refused(let refusal): throw APIError.conflict(refusal.code, Legs.explain(refusal, newest().state))
    case .stale:
      throw APIError.conflict("STALE", "the command waited too long for its loop and did nothing; send it again")
    }
  }
}

/// The answer to a sequence that has begun.
struct LegSequenceAnswer: Encodable {
  let ok = true
  /// The number by which `/api/leg` shows the sequence.
  let sequence: UInt64
  let steps: Int
}
