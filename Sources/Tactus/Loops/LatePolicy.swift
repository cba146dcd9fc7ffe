/// The policy for periodic releases that have come due before the loop could run them.
///
/// Whatever the policy, release instants stay `start + phase + k × period`: no policy shifts the phase.
public enum LatePolicy: Sendable, Hashable, BitwiseCopyable {
  /// Runs the newest release that is due and gives up the older ones. The policy is for control loops, for which only the present counts.
  case skip
  /// Runs up to `limit` missed releases late and in order before the newest, and gives up the older ones. The policy is for
  /// work that is counted, such as integration steps. `limit` is 0 or more; the runtime refuses a negative one.
  case catchUp(limit: Int64)
  /// Runs the oldest release that is due, late, and then gives up all that have come due by its end. The loop rests until its next
  /// release in phase, so that a loop that is too slow does not take up the whole lane.
  case runLate
}
