import Tactus

/// The rules of one loop under the swarm, which a history's reloads change: each number stands for a file that somebody saves.
public struct SwarmRules<Rules: ReloadableRules> {
  private let files: [Rules]
  /// Of the file that was taken last: a daemon that starts reads it.
  public private(set) var number = 0
  private var wanted: WantedRules<Rules>

  /// - Parameter files: at least one; a history begins with the first.
  public init(_ files: [Rules]) { (self.files, wanted) = (files, WantedRules(RulesBox(files[0]))) }

  /// A daemon starts: its loop's box.
  public mutating func start() -> RulesBox<Rules> {
    let box = RulesBox(files[number])
    wanted = WantedRules(box)
    return box
  }

  /// What a start reads.
  public var saved: Rules { files[number] }

  /// The change that a reload proposes; `nil` if there is no file of that number.
  public func change(of system: String, to number: Int64) -> (any RulesChange)? {
    guard let index = Int(exactly: number), files.indices.contains(index) else { return nil }
    let key = KeyChange("\(system).rules", from: .integer(self.number), to: .integer(index))
    return wanted.change(of: system, [key], to: files[index]) {}
  }

  /// The reload has told every loop.
  ///
  /// - Returns: whether there is a file of that number.
  public mutating func changed(to number: Int64) -> Bool {
    guard let index = Int(exactly: number), files.indices.contains(index) else { return false }
    self.number = index
    return true
  }
}

/// A limit that reloads change, as far as one can know from outside: what is tighter holds from the next tick on, what is wider once the output has
/// been off.
public struct SwarmLimit {
  /// The longest that may be in force.
  public private(set) var longest: Nanoseconds
  /// The shortest that may be.
  public private(set) var shortest: Nanoseconds
  /// Not taken yet.
  private var next: Nanoseconds?
  private var wider: Nanoseconds?
  private var isOff = true

  /// In force from the start on.
  public init(_ limit: Nanoseconds) { (longest, shortest) = (limit, limit) }

  /// The loop has been told another.
  public mutating func changed(to limit: Nanoseconds) {
    (next, shortest) = (limit, min(shortest, limit))
  }

  /// The loop has begun a tick.
  ///
  /// - Returns: whether the limit may have become another one.
  @discardableResult
  public mutating func ticked() -> Bool {
    guard let limit = next else { return false }
    (longest, wider, next) = (min(longest, limit), limit, nil)
    look(isOff: isOff)
    return true
  }

  /// Whether the output is off now.
  public mutating func look(isOff: Bool) {
    self.isOff = isOff
    if isOff, let limit = wider { (longest, wider) = (max(longest, limit), nil) }
  }
}
