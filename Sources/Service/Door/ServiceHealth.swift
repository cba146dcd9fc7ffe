import Synchronization
import Tactus

/// The health of the daemon as a whole: stalled loops, troubles, and whether it is stopping.
final class ServiceHealth: Sendable {
  private struct State {
    var stalled: Set<String> = []
    var troubles: [ServiceTrouble] = []
    var isStopping = false
  }
  private let state = Mutex(State())
  private let changes = Atomic<UInt64>(0)
  let guardHealth: GuardHealth

  init(guardHealth: GuardHealth = GuardHealth(.none)) { self.guardHealth = guardHealth }

  /// A number that changes after each change of the health and at each beat, because the systems' states may have changed by then.
  var version: UInt64 { changes.load(ordering: .relaxed) &+ guardHealth.changes.load(ordering: .relaxed) }

  func beat() { changes.wrappingAdd(1, ordering: .relaxed) }

  func setStalled(_ isStalled: Bool, loop: String) {
    change { if isStalled { $0.stalled.insert(loop) } else { $0.stalled.remove(loop) } }
  }

  func setTroubles(_ troubles: [ServiceTrouble]) { change { $0.troubles = troubles } }

  func setStopping() { change { $0.isStopping = true } }

  private func change(_ body: (inout State) -> Void) {
    state.withLock { body(&$0) }
    changes.wrappingAdd(1, ordering: .relaxed)
  }

  /// The names of the loops that do not tick, in alphabetical order.
  var stalled: [String] { state.withLock { $0.stalled.sorted() } }
  var troubles: [ServiceTrouble] {
    // The trouble of removed mechanisms comes last, because the test that has removed them looks for other troubles.
    [guardHealth.trouble].compactMap(\.self) + state.withLock { $0.troubles }
      + [ServiceTrouble.removed].compactMap(\.self)
  }
  var isStopping: Bool { state.withLock { $0.isStopping } }
}

/// A condition that keeps a part of the daemon from working while its loops go on.
public struct ServiceTrouble: Sendable, Hashable {
  /// The code for programs: `MECHANISM_REMOVED`, `GUARD_LOST`, `STORE_FAILED`, `STORE_LOST`, `TOKENS_FAILED`,
  /// `SPAWNER_LOST`, `BROKER_FAILED`, `BROKER_UNSTABLE`, `BROKER_REFUSES`, `BROKER_GONE`, `LOG_FAILED` or
  /// `FEW_DESCRIPTORS`.
  public let code: String
  /// The message for people: the problem, its remedy, and the parts that do not work until then.
  public let message: String
  /// Whether the cause lies outside the daemon, which counts as healthy nevertheless: a restart or an older version would not help.
  public let isOutside: Bool

  /// Makes a trouble.
  ///
  /// - Parameters:
  ///   - code: the code for programs, in capitals with underscores.
  ///   - message: the message for people.
  ///   - isOutside: whether the cause lies outside the daemon, which counts as healthy nevertheless.
  public init(code: String, message: String, isOutside: Bool = false) {
    (self.code, self.message, self.isOutside) = (code, message, isOutside)
  }

  /// The trouble of a program from which a test has removed safety mechanisms, or `nil` if none is removed.
  static let removed: ServiceTrouble? =
    Mechanism.removed.isEmpty
    ? nil
    : ServiceTrouble(
      code: "MECHANISM_REMOVED",
      message: "a test has removed safety mechanisms (TACTUS_WITHOUT): "
        + Mechanism.removed.map(\.rawValue).joined(separator: ", ") + "; drive nothing with this program")

  static let fewDescriptors = ServiceTrouble(
    code: "FEW_DESCRIPTORS",
    message: "file descriptors run out: the last are kept for those who can stop; raise the limit of open files "
      + "(LimitNOFILE=)")
}
