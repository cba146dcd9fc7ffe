import CTactus
import Synchronization

/// How many runtimes of this process want its memory locked. Global because what it counts is: the kernel knows one lock
/// for the whole process, and the first runtime to stop must not take it from the others.
enum MemoryLocks {
  private static let holders = Mutex(0)

  static func take() -> Runtime.MemoryLock {
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
