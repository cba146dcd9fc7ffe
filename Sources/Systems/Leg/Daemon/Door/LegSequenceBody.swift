@_spi(FromOutside) import Conversions
import Leg
import Service
import Tactus
import TactusDaemon
import Wire

/// The body of `POST /api/leg/sequence`: poses by name, and the steps.
struct LegSequenceBody: JSONReadable {
  /// One step, with the positions of a pose or with positions of its own.
  struct Step: JSONReadable {
    let pose: String?
    let positions: [String: Int]?
    let overMilliseconds: Int
    let holdMilliseconds: Int

    init(_ body: inout JSONReader) throws(APIError) {
      pose = try body.optional("pose", .text(1...80))
      positions = try body.optional("positions", LegSequenceBody.positions)
      overMilliseconds = try body.required("overMs", .integer(1...60_000))
      holdMilliseconds = try body.optional("holdMs", .integer(0...60_000)) ?? 0
      if pose != nil, positions != nil {
        throw body.refusal("positions", expected: "one of pose and positions", got: "both")
      }
      if pose == nil, positions == nil {
        throw body.refusal("positions", expected: "one of pose and positions", got: "neither")
      }
    }
  }

  let poses: [String: [String: Int]]
  let steps: [Step]
  /// The number of rounds, or 0 to repeat the steps until the sequence is stopped.
  let rounds: Int

  init(_ body: inout JSONReader) throws(APIError) {
    poses = try body.optional("poses", Self.poses) ?? [:]
    rounds = try body.optional("repeat", .integer(0...LegSequence.maximumRounds)) ?? 1
    steps = try body.required("steps", .list(of: .object(Step.self), 1...LegSequence.maximumSteps))
  }

  /// The pulses in microseconds by the names of the legs.
  private static var positions: JSONKind<[String: Int]> {
    JSONKind("an object of legs' names and pulses 500…2500") { $0.pulses }
  }

  private static var poses: JSONKind<[String: [String: Int]]> {
    JSONKind("an object of poses, each an object of legs' names and pulses 500…2500") { value in
      guard case .object(let members) = value else { return nil }
      var poses: [String: [String: Int]] = [:]
      for member in members {
        guard let pulses = member.value.pulses else { return nil }
        poses[member.name] = pulses
      }
      return poses
    }
  }

  /// Returns the sequence for these legs, or throws an error that names the step.
  func sequence(_ wiring: Legs.Wiring, _ settings: [LegSettings]) throws(APIError) -> LegSequence {
    var places: [String: Int] = [:]
    for index in wiring.legs.indices { places[wiring.name(index)] = index }
    var all: [LegStep] = []
    for (index, step) in steps.enumerated() {
      let at = "steps[\(index)]"
      let named = try named(step, at)
      var pulses: [Int: PulseWidth] = [:]
      for (name, pulse) in named.sorted(by: { $0.key < $1.key }) {
        guard let leg = places[name] else {
          throw Self.error(
            "\(at).\(step.pose == nil ? "positions" : "pose")",
            "expected names of legs (\(places.keys.sorted().joined(separator: ", "))), got \"\(name)\"")
        }
        pulses[leg] = PulseWidth(microseconds: UInt16(clamping: pulse))
      }
      all.append(
        LegStep(
          pulses, over: .milliseconds(Int64(step.overMilliseconds)), hold: .milliseconds(Int64(step.holdMilliseconds))))
    }
    do {
      return try LegSequence(
        all, rounds: rounds, settings: settings, period: Nanoseconds(1_000_000_000 / Int64(wiring.rateHertz)))
    } catch {
      throw Self.error(error.field, error.sentence(wiring))
    }
  }

  private func named(_ step: Step, _ at: String) throws(APIError) -> [String: Int] {
    guard let pose = step.pose else { return step.positions ?? [:] }
    guard let positions = poses[pose] else {
      let known = poses.isEmpty ? "there are none" : poses.keys.sorted().joined(separator: ", ")
      throw Self.error("\(at).pose", "expected a pose of poses (\(known)), got \"\(pose)\"")
    }
    return positions
  }

  private static func error(_ field: String, _ message: String) -> APIError {
    APIError(.unprocessableContent, "VALIDATION", "\(field): \(message)", field: field)
  }
}

extension JSONValue {
  /// The value as pulses by name, or `nil` if it is something else.
  fileprivate var pulses: [String: Int]? {
    guard case .object(let members) = self else { return nil }
    var pulses: [String: Int] = [:]
    for member in members {
      guard let pulse = member.value.wholeNumber, (500...2500).contains(pulse) else { return nil }
      pulses[member.name] = pulse
    }
    return pulses
  }
}

extension LegSequenceError {
  /// The member of the body that the error is about.
  fileprivate var field: String {
    switch self {
    case .steps, .nothingMoves: "steps"
    case .rounds: "repeat"
    case .over(let step, _, _), .tooFast(let step, _, _, _): "steps[\(step - 1)].overMs"
    case .hold(let step, _): "steps[\(step - 1)].holdMs"
    case .leg(let step, _), .pulse(let step, _, _, _, _): "steps[\(step - 1)]"
    }
  }

  fileprivate func sentence(_ wiring: Legs.Wiring) -> String {
    switch self {
    case .steps(let count): "expected 1…\(LegSequence.maximumSteps), got \(count)"
    case .rounds(let count): "expected 0…\(LegSequence.maximumRounds), got \(count)"
    case .nothingMoves: "expected a position of a leg in one of them, got none"
    case .over(_, let value, let least):
      "expected \(least.milliseconds)…60000, a tick of the legs' loop to a minute, got \(value.milliseconds)"
    case .hold(_, let value): "expected 0…60000, got \(value.milliseconds)"
    case .leg(_, let leg): "there is no leg \(leg)"
    case .pulse(_, let leg, let pulse, let lowest, let highest):
      "\(wiring.name(leg)): expected \(lowest.microseconds)…\(highest.microseconds), the limits of the leg, got \(pulse.microseconds)"
    case .tooFast(_, let leg, let over, let least):
      "\(wiring.name(leg)): expected at least \(least.milliseconds) for this way at its slew_us_per_s, got \(over.milliseconds)"
    }
  }
}

extension Nanoseconds {
  /// The time in whole milliseconds, rounded up.
  fileprivate var milliseconds: Int64 { (count + 999_999) / 1_000_000 }
}
