import CTactus
import Synchronization

/// The number of runtimes in this process that need its memory locked.
///
/// The count is global because the kernel has one memory lock for the whole process: the first runtime that stops must not release
/// it while other runtimes need it.
enum MemoryLocks {
  private static let holders = Mutex(0)

  static func acquire() -> Runtime.MemoryLock {
    holders.withLock { holders in
      if holders == 0, case let result = tactus_memory_lock(), result < 0 { return .refused(errno: -result) }
      holders += 1
      return .locked
    }
  }

  static func release() {
    holders.withLock { holders in
      holders -= 1
      if holders == 0 { _ = tactus_memory_unlock() }
    }
  }
}
