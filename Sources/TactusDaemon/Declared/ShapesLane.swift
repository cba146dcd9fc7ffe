/// Adopted by a system whose lane has another priority or another name in the reference than the usual, or whose file says how many missed ticks bring
/// the safe state.
///
///     static let lane = LaneKeys(
///       "runtime.robot", "the motors' lane", priority: 80, safeStateAfter: (10, "the robot stops and is in fault until a reset"))
///
/// `bench.safeStateAfter` is then what the file says, for `mailbox.loop(…, safeStateAfter:)`.
public protocol ShapesLane: DeviceSystem {
  /// The keys of `runtime.NAME`, NAME being the system's.
  static var lane: LaneKeys { get }
}
