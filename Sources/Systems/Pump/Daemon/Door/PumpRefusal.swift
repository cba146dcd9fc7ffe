import Pump
import Service

extension PumpIgnoreReason {
  /// The refusal of a request as the API says it.
  ///
  /// - Parameter wayOut: of the newest state.
  func error(wayOut: String?) -> APIError {
    let way = hasOwnWayOut ? nil : wayOut
    return .conflict(code, "the pump: " + (way.map { "\(self); \($0)" } ?? "\(self)"))
  }

  /// Stays the same from release to release.
  var code: String {
    switch self {
    case .noContact: "NO_CONTACT"
    case .stateUnknown: "STATE_UNKNOWN"
    case .alreadyOn: "ALREADY_ON"
    case .notRunning: "NOT_RUNNING"
    case .inFault: "IN_FAULT"
    case .emergencyStopped: "EMERGENCY_STOPPED"
    case .mustRest: "MUST_REST"
    case .offNotConfirmed: "OFF_NOT_CONFIRMED"
    case .causePersists: "CAUSE_PERSISTS"
    case .noReadingYet: "NO_READING_YET"
    case .nothingToReset: "NOTHING_TO_RESET"
    case .stale: "STALE"
    case .notUnderstood: "NOT_UNDERSTOOD"
    case .shutDown: "SHUT_DOWN"
    }
  }

  private var hasOwnWayOut: Bool {
    switch self {
    case .alreadyOn, .notRunning, .mustRest, .nothingToReset, .stale, .notUnderstood: true
    case .noContact, .stateUnknown, .inFault, .emergencyStopped, .offNotConfirmed, .causePersists, .noReadingYet,
      .shutDown:
      false
    }
  }
}
