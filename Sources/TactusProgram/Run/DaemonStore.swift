import Dispatch
import Logging
import Service
import Store
import Synchronization
import Tactus

/// The daemon's store: one file for every system that keeps something, opened once, copied when it has changed, closed last.
///
/// Each system gets `file` and speaks to its own tables in it, by a type such as `SprinklerStore`.
final class DaemonStore: Sendable {
  let file: StoreFile
  private let logger: Logger
  private let nextLook = Mutex(TickInstant.zero)
  /// A snapshot takes its time on a slow card: never on the thread that hands out answers.
  private let copying = DispatchQueue(label: "tactus.store")
  private let isCopying = Atomic(false)

  /// Whether there is something to copy is looked at so often.
  private static let lookPeriod = Nanoseconds.seconds(5)

  /// nil: no system of the configuration keeps anything.
  ///
  /// - Throws: `StoreError`.
  convenience init?(
    for configuration: Configuration, simulate: Bool, environment: [String: String], logger: Logger
  ) throws(StoreError) {
    guard let path = configuration.storePath(simulate: simulate, environment: environment) else { return nil }
    try self.init(path, policy: configuration.store.policy, logger: logger)
  }

  private init(_ path: String, policy: SnapshotPolicy, logger: Logger) throws(StoreError) {
    let (file, report) = try StoreFile.open(path, policy: policy, at: .now)
    (self.file, self.logger) = (file, logger)
    for line in report.lines {
      logger.log(level: report.isLoss ? .error : .info, "\(line)", metadata: ["system": "store"])
    }
  }

  /// Ten times a second; returns at once.
  func beat(at now: TickInstant) {
    let isDue = nextLook.withLock { next in
      guard now >= next else { return false }
      next = now + Self.lookPeriod
      return true
    }
    guard isDue, isCopying.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else { return }
    copying.async { [self] in
      copy()
      isCopying.store(false, ordering: .relaxed)
    }
  }

  private func copy(isLast: Bool = false) {
    do throws(StoreError) {
      _ = try file.snapshotIfDue(at: .now, isLast: isLast)
    } catch {
      logger.warning("no snapshot of the store could be made", metadata: ["reason": .string("\(error)")])
    }
  }

  /// Makes a last snapshot, of what people have changed in any case, and closes the file. Nothing may be asked of it afterwards.
  func close() {
    copying.sync { copy(isLast: true) }
    do throws(StoreError) {
      try file.close()
    } catch {
      logger.error("the store was not closed", metadata: ["reason": .string("\(error)")])
    }
  }
}
