import Synchronization

/// A value that closures of any thread share.
public final class Guarded<Value: Sendable>: Sendable {
  private let guarded: Mutex<Value>

  /// A value behind a lock of its own.
  public init(_ value: Value) { guarded = Mutex(value) }

  /// Reading and writing each take the lock, so a change of what was read is not atomic. Not for a tick.
  public var value: Value {
    get { guarded.withLock { $0 } }
    set { guarded.withLock { $0 = newValue } }
  }
}
