import Logging
import Service
import Store
import Synchronization
import Tactus
import Wire

/// Writes the kept fields and settings of a system to the store when they change, and at the end: fields that count against a limit at once, settings at
/// most once a second, other fields at most every ten seconds. A write that the store rejects is repeated.
///
/// `beat` and `finish` are called on the main thread, which blocks only in `finish`.
final class KeptProgress<System: DeviceSystem>: Sendable {
  private struct Progress {
    /// The values in the store; at the start, the values that were restored or the initial ones.
    var written: [String: StoredValue]
    /// The instant of the next write of fields.
    var next = TickInstant.zero
    /// The instant of the next write if settings have changed.
    var soon = TickInstant.zero
    /// The instant of the next write if a field that counts against a limit has changed.
    var atOnce = TickInstant.zero
    var isWriting = false
    var hasFailed = false
  }

  /// The minimum time between two writes of fields.
  private static var period: Nanoseconds { .seconds(10) }
  /// The minimum time between two writes of settings, and the time before a rejected write is repeated.
  private static var patience: Nanoseconds { .seconds(1) }

  /// The state before the first tick.
  let state: System.State
  /// The rules at the start.
  let rules: System.Rules
  private let values: KeptValues
  private let fields: [Field<System.State>]
  /// The names of the fields that count against a limit.
  private let counting: [String]
  private let isOpen: @Sendable () -> Bool
  private let logger: Logger
  private let progress: Mutex<Progress>

  /// Reads the kept values, or returns `nil` if the system keeps none.
  ///
  /// - Parameters:
  ///   - first: the initial state, for fields without a kept value.
  ///   - inFile: the rules in the file.
  ///   - isWhole: returns whether rules have no contradictions.
  init?(
    _ file: StoreFile, of name: String, from first: System.State = System.initialState,
    rules inFile: System.Rules = .init(), isWhole: (System.Rules) -> Bool = { _ in true }, _ logger: Logger
  ) {
    fields = System.fields.filter(\.isKept)
    counting = fields.filter(\.isKeptAtOnce).map(\.shape.name)
    guard !fields.isEmpty || KeptRules<System>.isNeeded else { return nil }
    values = KeptValues(of: System.name, instance: name, in: file)
    (self.logger, isOpen) = (logger, { file.isOpen })
    var (state, rules) = (first, inFile)
    do throws(StoreError) {
      let kept = try values.read()
      if !kept.isEmpty {
        if let resuming = System.self as? any Resumes.Type { state = Self.resumed(resuming, state, Kept(values: kept)) }
        rules = KeptRules<System>.resumed(kept, over: inFile, isWhole: isWhole)
      }
    } catch {
      // The next write replaces the values that could not be read.
      logger.error(
        "the kept values cannot be read: the system starts without them",
        metadata: ["system": "\(name)", "reason": "\(error)"])
    }
    (self.state, self.rules) = (state, rules)
    progress = Mutex(
      Progress(written: Self.values(of: state, fields).merging(KeptRules<System>.values(rules, file: inFile)) { $1 }))
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
          let value: ConfigValue? = if case .plain(let value) = field.read(state) { value } else { nil }
          return (field.shape.name, StoredValue(value))
        })
  }

  /// Begins a write on the desk's thread if one is due. The call does not block.
  ///
  /// - Parameter stored: called, on any thread, with the instant up to which everything that counts against a limit is on the disk.
  func beat(
    _ newest: Published<System.State>, _ settings: [String: StoredValue] = [:], at now: TickInstant,
    on thread: DeskThread, stored: @escaping @Sendable (TickInstant) -> Void = { _ in }
  ) {
    let new = Self.values(of: newest.state, fields).merging(settings) { $1 }
    let (isDue, isStored) = progress.withLock { progress -> (Bool, Bool) in
      let counts = counting.contains { progress.written[$0] != new[$0] }
      let isSetting = settings.contains { progress.written[$0] != $1 }
      let due = counts ? progress.atOnce : isSetting ? progress.soon : progress.next
      guard new != progress.written, now >= due, !progress.isWriting else { return (false, !counts) }
      progress.isWriting = true
      (progress.next, progress.soon) = (now + Self.period, now + Self.patience)
      return (true, !counts)
    }
    if isStored { stored(newest.at) }
    guard isDue else { return }
    thread.run { [self] in
      if write(new) {
        stored(newest.at)
      } else {
        progress.withLock { ($0.next, $0.atOnce) = (now + Self.patience, now + Self.patience) }
      }
      progress.withLock { $0.isWriting = false }
      return []
    }
  }

  /// Writes the last values. The call may wait for the disk.
  func finish(_ state: System.State, _ settings: [String: StoredValue] = [:]) {
    let new = Self.values(of: state, fields).merging(settings) { $1 }
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
      // The code that opens the store reports a store that is not open.
      if isNews, isOpen() {
        logger.error("the store does not take what is to be kept", metadata: ["reason": .string("\(error)")])
      }
      return false
    }
  }
}

/// The `kept` rules that clients have set, as two texts in the store: the values that were set, and the values that the
/// file had for the same keys.
struct KeptRules<System: DeviceSystem>: Sendable {
  private static var set: String { "settings.set" }
  private static var given: String { "settings.file" }
  private static var keys: [Key<System.Rules>] { System.Rules.keys.filter(\.isKept) }
  /// Whether the system has such keys.
  static var isNeeded: Bool { !keys.isEmpty }

  /// Returns the values to store for these rules while the file has those in `file`.
  static func values(_ wanted: System.Rules, file: System.Rules) -> [String: StoredValue] {
    let changed = keys.filter { $0.read(wanted) != $0.read(file) }
    return isNeeded ? [set: .text(text(changed, of: wanted)), given: .text(text(changed, of: file))] : [:]
  }

  private static func text(_ keys: [Key<System.Rules>], of rules: System.Rules) -> String {
    let members = keys.map { JSONValue.Member(name: $0.name, value: $0.read(rules).json) }
    return String(decoding: JSONValue.object(members).bytes, as: UTF8.self)
  }

  /// Returns the rules at the start: those of the file, with each value that a client set while the file had the same
  /// value for that key as now. If any kept value is no longer valid for its key or contradicts others, all kept values
  /// are ignored.
  static func resumed(_ kept: [String: StoredValue], over file: System.Rules, isWhole: (System.Rules) -> Bool)
    -> System.Rules
  {
    guard case .text(let set)? = kept[set], case .text(let given)? = kept[given],
      let values = JSONValue(json: Array(set.utf8)), let before = JSONValue(json: Array(given.utf8))
    else { return file }
    let members = keys.compactMap { key -> JSONValue.Member? in
      guard let value = values[key.name], before[key.name] == key.read(file).json else { return nil }
      return JSONValue.Member(name: key.name, value: value)
    }
    let body = APIRequest(
      caller: Caller(scope: .admin, tokenID: nil, address: "", client: 0), body: JSONValue.object(members).bytes)
    let rules = try? body.decode { (body) throws(APIError) in try System.Rules(&body, over: file) }
    return rules.flatMap { isWhole($0) ? $0 : nil } ?? file
  }
}
