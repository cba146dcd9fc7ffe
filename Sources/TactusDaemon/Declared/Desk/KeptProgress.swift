import Logging
import Store
import Synchronization
import Tactus

/// Writes a system's kept fields: when they change, every ten seconds at most, and at the end. What the store refuses is tried again.
///
/// `beat` and `finish` belong to the main thread, which waits in `finish` only.
final class KeptProgress<System: DeviceSystem>: Sendable {
  private struct Progress {
    /// As the store has it; at the start, as it was given back or as it would be without.
    var written: [String: StoredValue]
    var next = TickInstant.zero
    var isWriting = false
    var hasFailed = false
  }

  /// Between two writes.
  private static var period: Nanoseconds { .seconds(10) }
  /// After one that was refused.
  private static var patience: Nanoseconds { .seconds(1) }

  /// Before the first tick.
  let state: System.State
  private let values: KeptValues
  private let fields: [Field<System.State>]
  private let isOpen: @Sendable () -> Bool
  private let logger: Logger
  private let progress: Mutex<Progress>

  /// Reads what was kept, or `nil` if no field is.
  init?(_ file: StoreFile, of name: String, _ logger: Logger) {
    fields = System.fields.filter(\.isKept)
    guard !fields.isEmpty, let resuming = System.self as? any Resumes.Type else { return nil }
    values = KeptValues(of: System.name, instance: name, in: file)
    (self.logger, isOpen) = (logger, { file.isOpen })
    var state = System.initialState
    do throws(StoreError) {
      let kept = try values.read()
      if !kept.isEmpty { state = Self.resumed(resuming, state, Kept(values: kept)) }
    } catch {
      // The next change is written over what could not be read.
      logger.error(
        "what was kept cannot be read: it begins anew", metadata: ["system": "\(name)", "reason": "\(error)"])
    }
    self.state = state
    progress = Mutex(Progress(written: Self.values(of: state, fields)))
  }

  private static func resumed<Resuming: Resumes>(
    _: Resuming.Type, _ state: System.State, _ kept: Kept
  ) -> System.State {
    var resumed = state as! Resuming.State
    Resuming.resume(&resumed, kept)
    return resumed as! System.State
  }

  private static func values(of state: System.State, _ fields: [Field<System.State>]) -> [String: StoredValue] {
    Dictionary(
      uniqueKeysWithValues:
        fields.map { field in
          let plain: PlainValue = if case .plain(let plain) = field.read(state) { plain } else { .nothing }
          return (field.shape.name, StoredValue(plain))
        })
  }

  /// Begins a write on the desk's thread if one is due; returns at once.
  func beat(_ state: System.State, at now: TickInstant, on thread: DeskThread) {
    let new = Self.values(of: state, fields)
    let isDue = progress.withLock { progress in
      guard new != progress.written, now >= progress.next, !progress.isWriting else { return false }
      progress.isWriting = true
      progress.next = now + Self.period
      return true
    }
    guard isDue else { return }
    thread.run { [self] in
      if !write(new) { progress.withLock { $0.next = now + Self.patience } }
      progress.withLock { $0.isWriting = false }
      return []
    }
  }

  /// Writes the last values. May wait for the disk.
  func finish(_ state: System.State) {
    let new = Self.values(of: state, fields)
    if progress.withLock({ new != $0.written }) { _ = write(new) }
  }

  private func write(_ new: [String: StoredValue]) -> Bool {
    do throws(StoreError) {
      try values.write(new)
      progress.withLock { ($0.written, $0.hasFailed) = (new, false) }
      return true
    } catch {
      let isNews = progress.withLock { progress in
        defer { progress.hasFailed = true }
        return !progress.hasFailed
      }
      // That the store is not open is said by what opens it.
      if isNews, isOpen() {
        logger.error("the store does not take what is to be kept", metadata: ["reason": .string("\(error)")])
      }
      return false
    }
  }
}
