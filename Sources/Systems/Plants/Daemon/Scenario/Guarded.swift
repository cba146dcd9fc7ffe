import Synchronization

/// A value that closures of any thread share.
final class Guarded<Value: Sendable>: Sendable {
  private let guarded: Mutex<Value>

  init(_ value: Value) { guarded = Mutex(value) }

  var value: Value {
    get { guarded.withLock { $0 } }
    set { guarded.withLock { $0 = newValue } }
  }
}
