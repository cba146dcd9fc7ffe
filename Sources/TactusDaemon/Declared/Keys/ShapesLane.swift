/// Adopted by a system whose lane has an unusual priority or an unusual name in the reference, or whose file sets the
/// number of missed ticks after which the safe state is entered.
///
/// ```swift
/// static let lane = LaneKeys(
///   "runtime.robot", "the motors' lane", priority: 80, safeStateAfter: (10, "the robot stops and is in fault until a reset"))
/// ```
///
/// `bench.safeStateAfter` is then the number in the file, for `mailbox.loop(…, safeStateAfter:)`.
public protocol ShapesLane: DeviceSystem {
  /// The keys of `runtime.NAME`, where NAME is the system's name.
  static var lane: LaneKeys { get }
}
