import Synchronization

/// A value behind a lock that closures on any thread share.
public final class Guarded<Value: Sendable>: Sendable {
  private let guarded: Mutex<Value>

  /// Creates the value with a lock of its own.
  public init(_ value: Value) { guarded = Mutex(value) }

  /// The value. Reading and writing each take the lock, so a change that depends on a value read before is not atomic.
  /// It must not be used in a tick.
  public var value: Value {
    get { guarded.withLock { $0 } }
    set { guarded.withLock { $0 = newValue } }
  }
}
