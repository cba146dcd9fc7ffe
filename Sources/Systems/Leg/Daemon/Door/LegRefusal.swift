import Leg
import Service

extension LegIgnoreReason {
  /// The refusal of a request as the API says it; `leg` is the leg's newest state.
  func error(leg index: Int, in leg: LegState) -> APIError {
    let way = hasOwnWayOut ? nil : leg.wayOut
    return .conflict(code, "leg \(index): " + (way.map { "\(sentence); \($0)" } ?? sentence))
  }

  /// Stays the same from release to release.
  var code: String {
    switch self {
    case .notArmed: "NOT_ARMED"
    case .alreadyArmed: "ALREADY_ARMED"
    case .inFault: "IN_FAULT"
    case .emergencyStopped: "EMERGENCY_STOPPED"
    case .lowBattery: "LOW_BATTERY"
    case .offNotConfirmed: "OFF_NOT_CONFIRMED"
    case .nothingToReset: "NOTHING_TO_RESET"
    case .stale: "STALE"
    case .notUnderstood: "BAD_FRAME"
    case .shutDown: "SHUT_DOWN"
    case .outOfPlace: "OUT_OF_PLACE"
    }
  }

  /// The value of a metric's label.
  var word: String { code.lowercased() }

  private var hasOwnWayOut: Bool {
    switch self {
    case .alreadyArmed, .lowBattery, .nothingToReset, .stale, .notUnderstood, .outOfPlace: true
    case .notArmed, .inFault, .emergencyStopped, .offNotConfirmed, .shutDown: false
    }
  }

  private var sentence: String {
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
    }
  }
}
