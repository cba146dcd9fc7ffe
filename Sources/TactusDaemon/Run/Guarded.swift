import Synchronization

/// A value that closures of any thread share.
package final class Guarded<Value: Sendable>: Sendable {
  private let guarded: Mutex<Value>

  package init(_ value: Value) { guarded = Mutex(value) }

  package var value: Value {
    get { guarded.withLock { $0 } }
    set { guarded.withLock { $0 = newValue } }
  }
}
