import Leg
import Service
import Tactus
import Wire

/// Commands over HTTP.
extension LegDoor {
  var routes: [Route] {
    let (version, make) = (snapshot.version, { @Sendable [self] in encodeJSON(document(ok: true)) })
    return [
      Route("/api/leg", PreparedDocument(version: { version.read() }, make: make)),
      command("arm", .command(.arm)), command("disarm", .command(.disarm)), command("ping", .command(.ping)),
      Route(.post, "/api/leg/{index}/set", scope: .control, action: "leg.set") { [self] request in
        let leg = try leg(request)
        let pulse = try request.decode(LegSetBody.self).pulse
        let answer = try accepted(try await mailbox.ask(.command(.setServo(pulse)), of: .leg(leg)))
        links.took(request.caller.client, leg: leg, feeds: true, at: answer.at)
        return answered(answer, logValue: "leg=\(leg) us=\(pulse.microseconds)")
      },
      group("arm", .command(.arm)), group("disarm", .command(.disarm)), group("e-stop", .emergencyStop),
      Route(.post, "/api/leg/reset", scope: .control, action: "leg.reset") { [self] request in
        try await reset(request.caller)
        return all(at: newest.at)
      },
    ]
  }

  /// For one leg.
  private func command(_ word: String, _ order: LegRequest.Order) -> Route {
    Route(.post, "/api/leg/{index}/\(word)", scope: .control, action: "leg.\(word)") { [self] request in
      let leg = try leg(request)
      let answer = try accepted(try await mailbox.ask(order, of: .leg(leg)))
      links.took(request.caller.client, leg: leg, feeds: order != .command(.disarm), at: answer.at)
      return answered(answer, logValue: "leg=\(leg)")
    }
  }

  /// For all legs in the same tick; an arm for all of them or none.
  private func group(_ word: String, _ order: LegRequest.Order) -> Route {
    Route(.post, "/api/leg/\(word)", scope: .control, action: "leg.\(word)") { [self] request in
      let answer = try accepted(try await mailbox.ask(order, of: .all))
      for leg in legs.indices {
        links.took(request.caller.client, leg: leg, feeds: order == .command(.arm), at: answer.at)
      }
      return all(at: answer.at)
    }
  }

  private func leg(_ request: APIRequest) throws(APIError) -> Int {
    let text = request.parameters["index"] ?? ""
    guard let index = Int(text), legs.indices.contains(index) else { throw noSuchLeg(text) }
    return index
  }

  private func answered(_ answer: LegAnswer, logValue: String) -> APIResponse {
    .json(
      CommandDocument(
        leg: LegStateDocument(newest[answer.leg].state, index: answer.leg, name: legs[answer.leg].name),
        monotonicNs: answer.at.nanoseconds),
      logValue: logValue)
  }

  private func all(at: TickInstant) -> APIResponse {
    let newest = newest
    return .json(
      GroupDocument(
        legs: legs.indices.map { LegStateDocument(newest[$0].state, index: $0, name: legs[$0].name) },
        monotonicNs: at.nanoseconds))
  }
}

/// The body of `POST /api/leg/{index}/set`.
private struct LegSetBody: JSONReadable {
  let pulse: PulseWidth

  init(_ body: inout JSONReader) throws(APIError) {
    pulse = PulseWidth(microseconds: UInt16(clamping: try body.required("pulseUs", .integer(500...2500))))
  }
}

/// What a taken command is answered with.
private struct CommandDocument: Encodable {
  let ok = true
  let verdict = "accepted"
  let leg: LegStateDocument
  let monotonicNs: Int64
}

private struct GroupDocument: Encodable {
  let ok = true
  let verdict = "accepted"
  let legs: [LegStateDocument]
  let monotonicNs: Int64
}
