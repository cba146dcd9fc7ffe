import Dispatch
import GRDB

@testable import Store

extension StoreFile {
  /// Nothing is written from now on until the semaphore is signalled.
  func stall() -> DispatchSemaphore {
    let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    DispatchQueue(label: "stalled disk").async {
      try? self.pool.write { _ in
        begun.signal()
        end.wait()
      }
    }
    begun.wait()
    return end
  }
}
