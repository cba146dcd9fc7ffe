/// Requested values, which are shown until the daemon confirms or refuses them, for at most 3 s from the request.
///
/// A daemon that does not answer may not have obeyed, so its silence does not make them last longer.
struct Expectations<Key: Hashable & Sendable, Value: Equatable & Sendable> {
  /// The time after which the reported state is shown even if it differs.
  static var patience: Duration { .seconds(3) }

  private struct Expectation {
    var value: Value
    var number: Int
    var until: Duration
  }
  private var waiting: [Key: Expectation] = [:]
  private var count = 0

  /// Whether any value is expected.
  var isEmpty: Bool { waiting.isEmpty }

  /// Expects a value. Returns the number of the expectation; a later one for the same key has another number.
  mutating func expect(_ value: Value, for key: Key, at now: Duration) -> Int {
    count += 1
    waiting[key] = Expectation(value: value, number: count, until: now + Self.patience)
    return count
  }

  /// Notes that the daemon has refused the request.
  mutating func giveUp(_ number: Int, for key: Key) {
    if waiting[key]?.number == number { waiting[key] = nil }
  }

  /// Takes the reported value, which ends an expectation that agrees with it.
  mutating func reconcile(_ key: Key, with reported: Value, at now: Duration) {
    guard let expectation = waiting[key] else { return }
    if expectation.value == reported || now >= expectation.until { waiting[key] = nil }
  }

  /// Removes expectations that are too old.
  mutating func expire(at now: Duration) {
    waiting = waiting.filter { now < $0.value.until }
  }

  /// Returns the value to show: the expected one, or else the reported one.
  func shown(_ key: Key, reported: Value) -> Value { waiting[key]?.value ?? reported }
}
