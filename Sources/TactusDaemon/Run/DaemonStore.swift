import Dispatch
import Logging
import Service
import Store
import Synchronization
import Tactus

/// The daemon's store: one file for every system that keeps something, opened once, copied when it has changed, closed last.
///
/// Each system gets `file` and speaks to its own tables in it, by a type such as `SprinklerStore`. What cannot be opened at the start is
/// tried again, and systems use it from then on.
final class DaemonStore: Sendable {
  let file: StoreFile
  private let logger: Logger
  private let nextLook = Mutex(TickInstant.zero)
  /// What takes its time on a slow card: never on the thread that hands out answers.
  private let looking = DispatchQueue(label: "tactus.store")
  private let isLooking = Atomic(false)
  private let told = Mutex(Told())

  /// What the log has.
  private struct Told {
    var trouble: StoreError?
    var isCopyRefused = false
  }

  /// Whether all is well, and whether there is something to copy, is looked at so often.
  private static let lookPeriod = Nanoseconds.seconds(5)
  /// To find out that a file is none of ours all of it is read: only so often.
  private static let rereadPeriod = Nanoseconds.seconds(60)

  /// Opens the store, or `nil` if no system of the configuration keeps anything.
  ///
  /// - Throws: `StoreError.inUse`: another daemon would drive the same hardware. Whatever else is wrong, the daemon runs without it.
  convenience init?(
    for configuration: Configuration, simulate: Bool, environment: [String: String], logger: Logger
  ) throws(StoreError) {
    guard let path = configuration.storePath(simulate: simulate, environment: environment),
      let store = configuration.store
    else { return nil }
    try self.init(
      StoreFile(
        path, systems: DaemonProgram.current.kinds.compactMap { $0.keeping?.tables }, policy: store.policy,
        mounts: configuration.mounts(simulate: simulate, environment: environment)),
      logger: logger)
  }

  init(_ file: StoreFile, logger: Logger) throws(StoreError) {
    (self.file, self.logger) = (file, logger)
    if case .inUse(let path)? = open() { throw .inUse(file: path) }
  }

  /// The store's trouble for `GET /api/health`, or `nil` if all is well. Waits for no disk.
  var trouble: ServiceTrouble? {
    file.trouble.map { trouble in
      ServiceTrouble(
        code: "STORE_FAILED",
        message: "\(trouble); to go on: \(trouble.wayOut); until then "
          + (file.isOpen ? "what cannot be kept is refused" : "\(Self.missing); all else works"))
    }
  }

  /// What the program's systems do not do without it.
  private static var missing: String {
    let missing = DaemonProgram.current.kinds.compactMap { $0.keeping?.withoutIt }
    return missing.isEmpty ? "nothing is kept" : missing.joined(separator: " and ")
  }

  /// Ten times a second; returns at once.
  func beat(at now: TickInstant) {
    let isDue = nextLook.withLock { next in
      guard now >= next else { return false }
      let isSlow =
        switch file.trouble {
        case .newer?, .foreign?, .damaged?, .replaced?: !file.isOpen
        default: false
        }
      next = now + (isSlow ? Self.rereadPeriod : Self.lookPeriod)
      return true
    }
    guard isDue, isLooking.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else { return }
    looking.async { [self] in
      look()
      isLooking.store(false, ordering: .relaxed)
    }
  }

  private func look() {
    if file.isOpen {
      file.look()
      tell(file.trouble)
    } else {
      open()
    }
    if file.isOpen, file.trouble == nil { copy() }
  }

  @discardableResult
  private func open() -> StoreError? {
    do throws(StoreError) {
      let report = try file.open(at: .now)
      for line in report.lines {
        logger.log(level: report.isLoss ? .error : .info, "\(line)", metadata: ["system": "store"])
      }
      if let warning = report.warning { logger.warning("\(warning)", metadata: ["system": "store"]) }
      tell(nil)
      return nil
    } catch {
      tell(error)
      return error
    }
  }

  /// One line when it begins, one when it is over.
  private func tell(_ trouble: StoreError?) {
    let isNews = told.withLock { told in
      let isSame =
        switch (told.trouble, trouble) {
        case (nil, nil): true
        case (let before?, let now?): now.isSameTrouble(as: before)
        default: false
        }
      if !isSame { told.trouble = trouble }
      return !isSame
    }
    guard isNews else { return }
    guard let trouble else {
      logger.notice("the store takes writes again", metadata: ["system": "store", "file": .string(file.path)])
      return
    }
    logger.error(
      file.isOpen ? "the store takes no writes" : "running without the store: \(Self.missing)",
      metadata: [
        "system": "store", "reason": .string("\(trouble)"), "way_out": .string(trouble.wayOut),
      ])
  }

  private func copy(isLast: Bool = false) {
    do throws(StoreError) {
      _ = try file.snapshotIfDue(at: .now, isLast: isLast)
      told.withLock { $0.isCopyRefused = false }
    } catch {
      let isNews = told.withLock { told in
        defer { told.isCopyRefused = true }
        return !told.isCopyRefused
      }
      guard isNews else { return }
      logger.warning("no snapshot of the store could be made", metadata: ["reason": .string("\(error)")])
    }
  }

  /// Makes a last snapshot, of what people have changed in any case, and closes the file. Nothing may be asked of it afterwards.
  func close() {
    looking.sync {
      guard file.isOpen else { return }
      copy(isLast: true)
      do throws(StoreError) {
        try file.close()
      } catch {
        logger.error("the store was not closed", metadata: ["reason": .string("\(error)")])
      }
    }
  }
}
