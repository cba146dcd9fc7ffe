public import WallTime

/// What was found when a store was opened, and what was done about it. The daemon logs `lines`.
public struct StoreReport: Sendable, Hashable {
  /// Where the opened store's content came from.
  public enum Origin: Sendable, Hashable {
    /// The file was there and sound.
    case found
    /// There was neither a file nor a snapshot.
    case created
    /// The file was damaged or missing; this snapshot, of that time, has taken its place. What came later is lost.
    case snapshot(file: String, made: WallInstant)
    /// The file was damaged, and no snapshot could take its place: all is lost but what was set aside.
    case startedAnew
  }
  /// A file that could not be used, and where it is now.
  public struct SetAside: Sendable, Hashable {
    /// The path at which it was found.
    public var file: String
    /// Nil: it was left where it is.
    public var movedTo: String?
    /// Why it could not be used, for people: `damaged: …`.
    public var reason: String
  }
  /// Path of the store.
  public internal(set) var file: String
  /// What was found or made at that path.
  public internal(set) var origin: Origin
  /// In the order in which they were tried: the store or its logs, then its snapshots from the newest on.
  public internal(set) var setAside: [SetAside] = []
  /// Migrations that were made now, in their order.
  public internal(set) var migrated: [String] = []

  /// The file was found sound, and the write-ahead log beside it was not, or `nil` if nothing was wrong with it.
  public internal(set) var logFlaw: LogFlaw?

  /// What could go wrong at a later start, or `nil` if nothing could. See `MountWatch`.
  public internal(set) var warning: String?

  /// Something was lost.
  public var isLoss: Bool {
    switch origin {
    case .found, .created: logFlaw?.isLoss ?? false
    case .snapshot, .startedAnew: true
    }
  }

  /// For the log, the gravest last.
  public var lines: [String] {
    var lines = setAside.map { item in
      "\(item.file): \(item.reason); \(item.movedTo.map { "moved to \($0)" } ?? "left where it is")"
    }
    if !migrated.isEmpty { lines.append("\(file): brought up to date: \(migrated.joined(separator: ", "))") }
    if let logFlaw { lines.append(logFlaw.line) }
    switch origin {
    case .found: break
    case .created: lines.append("\(file): made; there was none")
    case .snapshot(let snapshot, let made):
      lines.append("\(file): taken from \(snapshot); every change after \(made.isoText) is lost")
    case .startedAnew: lines.append("\(file): made anew; no snapshot was usable, every setting is lost")
    }
    return lines
  }
}
