import Logging
import Store

/// Adopted by a system that restores its state from tables of its own before the first tick.
public protocol ResumesOwn: KeepsOwn {
  /// Changes the state before the first tick, which then becomes `mailbox.initialState`. Called on the main thread; may
  /// wait for the disk. Reading fails if the store could not be opened.
  static func resume(_ state: inout State, _ store: StoreFile, _ logger: Logger)
}

extension ResumesOwn {
  fileprivate static func resumed(_ first: Any, _ store: StoreFile, _ logger: Logger) -> Any {
    // Of this system.
    var state = first as! State
    resume(&state, store, logger)
    return state
  }
}

extension DeviceSystem {
  /// Returns the state before the first tick with the values restored from the system's own tables.
  static func resumed(_ first: State, _ surroundings: SystemSurroundings?) -> State {
    guard let surroundings, let resuming = self as? any ResumesOwn.Type else { return first }
    // The two are one type.
    return resuming.resumed(first, surroundings.storeFile, surroundings.logger) as! State
  }
}
