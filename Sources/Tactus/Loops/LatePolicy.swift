/// What happens to periodic releases that have come due before the loop could run them.
///
/// Whatever the policy, release instants stay `start + phase + k × period`: no policy shifts the phase.
public enum LatePolicy: Sendable, Hashable, BitwiseCopyable {
  /// Run once for the newest release that is due, give up the older ones. For control: only the present counts.
  case skip
  /// Run up to `limit` missed releases late and in order before the newest, give up the older ones. For work that is
  /// counted, such as integration steps. `limit` is 0 or more;
  /// the runtime refuses another.
  case catchUp(limit: Int64)
  /// Run the oldest release that is due, late, then give up all that have come due by its end: the loop rests until its
  /// next release in phase, so that a loop that is too slow does not take the whole lane.
  case runLate
}
