import Dispatch
import Glibc
import Logging
import Service
import Store
import Synchronization
import Tactus

/// The daemon's store: one file for all systems that keep anything. It is opened once, copied when it has changed, and
/// closed last.
///
/// Each system receives `file` and uses its own tables in it through a type such as `SprinklerStore`. If the file
/// cannot be opened at the start, opening is repeated, and systems use the store from then on.
final class DaemonStore: Sendable {
  let file: StoreFile
  private let logger: Logger
  private let nextLook = Mutex(TickInstant.zero)
  /// A queue for work that is slow on a slow card, which must never run on the thread that delivers answers.
  private let looking = DispatchQueue(label: "tactus.store")
  private let isLooking = Atomic(false)
  private let told = Mutex(Told())

  /// The facts that have been logged.
  private struct Told {
    var trouble: StoreError?
    var isCopyRefused = false
    /// The sentence about the changes that were lost when the file was opened, or `nil` if none were.
    var loss: String?
  }

  /// The period in which the store is checked and, if it has changed, copied.
  private static let lookPeriod = Nanoseconds.seconds(5)
  /// The minimum time between two checks whether the file is a store at all, because such a check reads the whole file.
  private static let rereadPeriod = Nanoseconds.seconds(60)

  /// Opens the store, or returns `nil` if no system of the configuration keeps anything.
  ///
  /// - Throws: `StoreError.inUse` if another daemon uses the store, because that daemon would drive the same hardware.
  ///   After any other error the daemon runs without the store.
  convenience init?(
    for configuration: Configuration, simulate: Bool, environment: [String: String], logger: Logger
  ) throws(StoreError) {
    guard let path = configuration.storePath(simulate: simulate, environment: environment),
      let store = configuration.store
    else { return nil }
    try self.init(
      StoreFile(
        path, systems: DaemonProgram.current.storeSystems, policy: store.policy,
        mounts: configuration.mounts(simulate: simulate, environment: environment)),
      logger: logger)
    if let shared = configuration.sharedStorePath(simulate: simulate, environment: environment),
      access(path, F_OK) != 0, access(shared, F_OK) == 0
    {
      logger.warning(
        "a new store: this file's own, apart from one that is there",
        metadata: [
          "system": "store", "file": .string(path), "other": .string(shared),
          "way_out": "if the other is this file's, from before each file had its own: store.folder with its folder",
        ])
    }
    if let sharing = configuration.sharing(of: path) {
      logger.warning(
        "a store that another file had last",
        metadata: ["system": "store", "file": .string(path), "reason": .string(sharing)])
    }
    configuration.noteSharing(of: path)
  }

  init(_ file: StoreFile, logger: Logger) throws(StoreError) {
    (self.file, self.logger) = (file, logger)
    if case .inUse(let path)? = open() { throw .inUse(file: path) }
  }

  /// The store's trouble for `GET /api/health`, or `nil` if the store works and had lost nothing when this program opened it. The property does not
  /// wait for a disk.
  var trouble: ServiceTrouble? {
    if let trouble = file.trouble {
      return ServiceTrouble(
        code: "STORE_FAILED",
        message: "\(trouble); to go on: \(trouble.wayOut); until then "
          + (file.isOpen ? "what cannot be kept is refused" : "\(Self.missing); all else works"))
    }
    return told.withLock { $0.loss }.map { loss in
      ServiceTrouble(
        code: "STORE_LOST",
        message: "\(loss); look whether what is kept is as it should be, or restore a backup; "
          + "this is said until the next start")
    }
  }

  /// A text that names what the program's systems cannot do without the store, for the trouble that reports it.
  private static var missing: String {
    let missing = DaemonProgram.current.kinds.compactMap { $0.keeping?.withoutIt }
    return missing.isEmpty ? "nothing is kept" : missing.joined(separator: " and ")
  }

  /// Checks the store periodically. Called ten times a second; does not block.
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
      check()
      isLooking.store(false, ordering: .relaxed)
    }
  }

  private func check() {
    if file.isOpen {
      file.checkDisk()
      log(file.trouble)
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
      if let loss = report.loss { told.withLock { $0.loss = loss } }
      if let warning = report.warning { logger.warning("\(warning)", metadata: ["system": "store"]) }
      log(nil)
      return nil
    } catch {
      log(error)
      return error
    }
  }

  /// Logs one line when trouble begins and one when it is over.
  private func log(_ trouble: StoreError?) {
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

  /// Makes a last snapshot, which always includes the changes made by users, and closes the file. The store must not be
  /// used afterwards.
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
