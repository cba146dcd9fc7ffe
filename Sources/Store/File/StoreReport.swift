public import WallTime

/// The findings when a store was opened, and the actions that were taken. The daemon logs `lines`.
public struct StoreReport: Sendable, Hashable {
  /// The origin of the opened store's content.
  public enum Origin: Sendable, Hashable {
    /// The file existed and was intact.
    case found
    /// There was neither a file nor a snapshot.
    case created
    /// The file was damaged or missing, and the snapshot `file`, made at `made`, has replaced it. Later changes are lost.
    case snapshot(file: String, made: WallInstant)
    /// The file was damaged, and no snapshot could take its place. Everything is lost except the files that were set aside.
    case startedAnew
  }
  /// A file that could not be used, and its present path.
  public struct SetAside: Sendable, Hashable {
    /// The path at which the file was found.
    public var file: String
    /// The path to which the file was moved, or `nil` if it was left in its place.
    public var movedTo: String?
    /// The reason why the file could not be used, for people: `damaged: …`.
    public var reason: String
  }
  /// The path of the store.
  public internal(set) var file: String
  /// The origin of the content.
  public internal(set) var origin: Origin
  /// The files that could not be used, in the order in which they were tried: the store or its logs, then its snapshots from the newest on.
  public internal(set) var setAside: [SetAside] = []
  /// The names of the migrations that were applied, in their order.
  public internal(set) var migrated: [String] = []

  /// The damage of the write-ahead log of a file that was intact, or `nil` if the log was intact as well.
  public internal(set) var logFlaw: LogFlaw?

  /// A warning of a problem at a later start, or `nil` if none is to be expected. See `MountWatch`.
  public internal(set) var warning: String?

  /// Whether data was lost.
  public var isLoss: Bool {
    switch origin {
    case .found, .created: logFlaw?.isLoss ?? false
    case .snapshot, .startedAnew: true
    }
  }

  /// A sentence for people that says which changes were lost, or `nil` if none were.
  public var loss: String? { isLoss ? lines.last : nil }

  /// The lines for the log, the gravest last.
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
