import Leg
import Logging
import Tactus
import TactusDaemon
import Wire

// The words for refusals and notices. The module of the control does not depend on the daemon, so the conformances are declared here.

// swift-format-ignore: AvoidRetroactiveConformances
extension LegRefusal: @retroactive RefusalWord {
  public static var allCases: [LegRefusal] { LegIgnoreReason.allCases.map { LegRefusal($0, leg: 0) } }
  public init?(rawValue: String) {
    guard let reason = LegIgnoreReason.allCases.first(where: { $0.word == rawValue }) else { return nil }
    self.init(reason, leg: 0)
  }
  public var rawValue: String { reason.word }
  /// The code of the refusal, which stays the same from release to release.
  public var code: String { reason.word.uppercased() }
  public var sentence: String { "leg \(leg): \(reason.sentence)" }
}

extension Legs {
  static func explain(_ refusal: LegRefusal, _ state: LegSnapshot) -> String {
    let way = refusal.reason.hasOwnWayOut ? nil : state[refusal.leg].state.wayOut
    return refusal.sentence + (way.map { "; \($0)" } ?? "")
  }
}

extension LegIgnoreReason {
  /// The name of the reason, which stays the same from release to release.
  var word: String {
    switch self {
    case .notArmed: "not_armed"
    case .alreadyArmed: "already_armed"
    case .inFault: "in_fault"
    case .emergencyStopped: "emergency_stopped"
    case .lowBattery: "low_battery"
    case .offNotConfirmed: "off_not_confirmed"
    case .nothingToReset: "nothing_to_reset"
    case .stale: "stale"
    case .notUnderstood: "bad_frame"
    case .shutDown: "shut_down"
    case .outOfPlace: "out_of_place"
    case .noSequence: "no_sequence"
    case .tooFast: "too_fast"
    }
  }

  fileprivate var hasOwnWayOut: Bool {
    switch self {
    case .alreadyArmed, .lowBattery, .nothingToReset, .stale, .notUnderstood, .outOfPlace, .noSequence, .tooFast: true
    case .notArmed, .inFault, .emergencyStopped, .offNotConfirmed, .shutDown: false
    }
  }

  fileprivate var sentence: String {
    switch self {
    case .notArmed: "it is not armed"
    case .alreadyArmed: "it is armed already; an arm feeds nothing, send a pulse or a ping"
    case .inFault: "it is in fault"
    case .emergencyStopped: "it is emergency-stopped"
    case .lowBattery: "the battery is empty; charge it"
    case .offNotConfirmed: "the chip has not confirmed the off"
    case .nothingToReset: "it is neither emergency-stopped nor in fault"
    case .stale: "the command waited more than \(LegRequest.patience) for the legs' loop; send it again"
    case .notUnderstood: "not a LegCtrl frame"
    case .shutDown: "the daemon is shutting down"
    case .outOfPlace: "not now"
    case .noSequence: "another sequence was sent after this one"
    case .tooFast: "its first way in the sequence needs more than its slew; give that step more time"
    }
  }
}

// swift-format-ignore: AvoidRetroactiveConformances
extension LegNotice: @retroactive DeviceNotice {
  public enum Kind: String, NoticeWord {
    case state, chipFails, chipAnswers, batterySilent, batteryAnswers, sequence

    public var isTrouble: Bool {
      switch self {
      case .chipFails, .batterySilent: true
      case .state, .chipAnswers, .batteryAnswers, .sequence: false
      }
    }

    public var sentence: String {
      switch self {
      case .state: "a leg has another state, or another cause of a fault"
      case .chipFails: "the servos' chip fails"
      case .chipAnswers: "the servos' chip answers"
      case .batterySilent: "the battery's sensor is silent"
      case .batteryAnswers: "the battery's sensor answers"
      case .sequence: "a sequence of the legs begins or ends"
      }
    }
  }

  public var kind: Kind {
    switch self {
    case .state: .state
    case .chipFails: .chipFails
    case .chipAnswers: .chipAnswers
    case .batterySilent: .batterySilent
    case .batteryAnswers: .batteryAnswers
    case .sequence: .sequence
    }
  }
}

extension Legs {
  static func inFull(_ told: Told<LegNotice>, _ look: Look<Legs>) -> ToldInFull {
    let sentence = told.notice.kind.sentence
    switch told.notice {
    case .state(let index, let state):
      let shown = LegShown(index: index, name: look.wiring.name(index), state: state)
      var metadata: Logger.Metadata = [
        "leg": .stringConvertible(index), "name": .string(shown.name), "state": .string("\(state)"),
      ]
      if let wayOut = state.wayOut { metadata["way_out"] = .string(wayOut) }
      return ToldInFull(
        level: state.logLevel, "leg", metadata: metadata, type: "leg",
        body: StateDocument(of: name, LegShown.fields).json(shown))
    case .chipFails(let failure): return part("leg.chip", .error, sentence, failure: "\(failure)")
    case .chipAnswers: return part("leg.chip", .notice, sentence, failure: nil)
    case .batterySilent(let failure): return part("leg.battery", .warning, sentence, failure: "\(failure)")
    case .batteryAnswers: return part("leg.battery", .notice, sentence, failure: nil)
    case .sequence(let number, let end):
      let told = ToldSequence(number: Int(clamping: number), end: end)
      return ToldInFull(
        level: .info, sentence,
        metadata: ["sequence": .stringConvertible(number), "end": .string(end?.word.rawValue ?? "playing")],
        type: "leg.sequence", body: StateDocument(of: name, ToldSequence.fields).json(told))
    }
  }

  /// Returns the notice about a part that fails or works again.
  ///
  /// - Parameter failure: the failure, or `nil` if the part works again.
  private static func part(
    _ type: String, _ level: Logger.Level, _ message: String, failure: String?
  ) -> ToldInFull {
    ToldInFull(
      level: level, message, metadata: failure.map { ["failure": .string($0)] } ?? [:], type: type,
      body: StateDocument<String?>(of: name, [Field("failure", \.self, "What fails.")]).json(failure))
  }
}

/// The beginning or the end of a sequence, as an event reports it.
private struct ToldSequence: Sendable {
  let number: Int
  let end: LegSequenceEnd?

  @DeclarationBuilder<Field<ToldSequence>> static var fields: [Field<ToldSequence>] {
    Field("sequence", \.number, metric: .none, "The number that the answer to its request gave.")
    Field("ended", \.word, metric: .none, "Why it ended; null: it has begun.")
  }

  private var word: LegSequenceEnd.Word? { end?.word }
}

extension LegSequenceEnd {
  /// The name of the reason, which stays the same from release to release.
  enum Word: String, TactusDaemon.Word {
    case completed, stopped, commanded, legLost, replaced
  }

  var word: Word {
    switch self {
    case .completed: .completed
    case .stopped: .stopped
    case .commanded: .commanded
    case .legLost: .legLost
    case .replaced: .replaced
    }
  }
}

extension LegState {
  fileprivate var logLevel: Logger.Level {
    switch self {
    case .disarmed, .armed, .shutDown: .info
    case .emergencyStopped, .fault(.silence, _), .fault(.linkLost, _): .warning
    case .fault: .error
    }
  }
}
