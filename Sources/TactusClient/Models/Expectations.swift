/// What was asked for and is shown until the daemon says so: at most 3 s, and no longer than until it refuses.
struct Expectations<Key: Hashable & Sendable, Value: Equatable & Sendable> {
  /// A state that does not agree by then is the truth.
  static var patience: Duration { .seconds(3) }

  private struct Expectation {
    var value: Value
    var number: Int
    var until: Duration
  }
  private var waiting: [Key: Expectation] = [:]
  private var count = 0

  /// Whether anything is expected.
  var isEmpty: Bool { waiting.isEmpty }

  /// Expects a value. Returns a number by which it is given up or renewed: a later one for the same key has another.
  mutating func expect(_ value: Value, for key: Key, at now: Duration) -> Int {
    count += 1
    waiting[key] = Expectation(value: value, number: count, until: now + Self.patience)
    return count
  }

  /// The daemon has taken it: its state follows.
  mutating func renew(_ number: Int, for key: Key, at now: Duration) {
    if waiting[key]?.number == number { waiting[key]?.until = now + Self.patience }
  }

  /// The daemon has not taken it.
  mutating func giveUp(_ number: Int, for key: Key) {
    if waiting[key]?.number == number { waiting[key] = nil }
  }

  /// The daemon says what is: an expectation that agrees has come true.
  mutating func reconcile(_ key: Key, with reported: Value, at now: Duration) {
    guard let expectation = waiting[key] else { return }
    if expectation.value == reported || now >= expectation.until { waiting[key] = nil }
  }

  /// Gives up what is too old.
  mutating func expire(at now: Duration) {
    waiting = waiting.filter { now < $0.value.until }
  }

  /// What is shown: what is expected, or what the daemon says.
  func shown(_ key: Key, reported: Value) -> Value { waiting[key]?.value ?? reported }
}
