import Tactus
import TactusDaemon

/// The rules of one loop under the swarm, which the reloads of a history change. Each number stands for a saved file.
public struct SwarmRules<Rules: ReloadableRules> {
  private let files: [Rules]
  /// The number of the file that took effect last, which the next start reads.
  public private(set) var number = 0
  private var wanted: WantedRules<Rules>

  /// Makes the rules of a loop.
  ///
  /// - Parameter files: the rules of the files, at least one; a history begins with the first.
  public init(_ files: [Rules]) { (self.files, wanted) = (files, WantedRules(RulesBox(files[0]))) }

  /// Returns the box for the loop of a daemon that starts.
  public mutating func start() -> RulesBox<Rules> {
    let box = RulesBox(files[number])
    wanted = WantedRules(box)
    return box
  }

  /// Takes the box of a daemon that starts, whose loop begins with `saved`.
  public mutating func start(_ box: RulesBox<Rules>) { wanted = WantedRules(box) }

  /// The rules that the next start reads.
  public var saved: Rules { files[number] }

  /// Returns the change that a reload proposes, or `nil` if there is no file with that number.
  public func change(of system: String, to number: Int64) -> (any RulesChange)? {
    guard let index = Int(exactly: number), files.indices.contains(index) else { return nil }
    let key = KeyChange("\(system).rules", from: .integer(self.number), to: .integer(index))
    return wanted.change(of: system, [key], to: files[index]) {}
  }

  /// Notes that a reload has passed the rules of a file to every loop.
  ///
  /// - Returns: whether there is a file with that number.
  public mutating func changed(to number: Int64) -> Bool {
    guard let index = Int(exactly: number), files.indices.contains(index) else { return false }
    self.number = index
    return true
  }
}

/// The range in which a limit may be while reloads change it. A tighter limit holds from the next tick on; a wider
/// limit holds once the output has been off.
public struct SwarmLimit {
  /// The longest limit that may be in force.
  public private(set) var longest: Nanoseconds
  /// The shortest limit that may be in force.
  public private(set) var shortest: Nanoseconds
  /// The limit that was passed to the loop since its last tick, or `nil` if there was none.
  private var next: Nanoseconds?
  /// A wider limit that takes effect as soon as the output is off, or `nil` if there is none.
  private var wider: Nanoseconds?
  private var isOff = true
  private let tick: Nanoseconds
  private var tickedAt = TickInstant.zero

  /// Makes the range of a limit that is in force from the start.
  ///
  /// - Parameter tick: the period of the loop.
  public init(_ limit: Nanoseconds, tick: Nanoseconds) { (longest, shortest, self.tick) = (limit, limit, tick) }

  /// Notes that another limit has been passed to the loop.
  public mutating func changed(to limit: Nanoseconds) {
    (next, shortest) = (limit, min(shortest, limit))
  }

  /// Notes that the loop has begun a tick. A loop that has missed releases enters its safe state and may leave it in
  /// the same tick, which is not visible from outside.
  ///
  /// - Returns: whether the limit may have changed.
  @discardableResult
  public mutating func ticked(at now: TickInstant) -> Bool {
    let hasMissed = now - tickedAt > tick * 2
    tickedAt = now
    if hasMissed, let limit = wider { (longest, wider) = (max(longest, limit), nil) }
    guard let limit = next else { return false }
    (longest, wider, next) = (min(longest, limit), limit, nil)
    if isOff || hasMissed { (longest, wider) = (max(longest, limit), nil) }
    return true
  }

  /// Notes whether the output is off at present.
  public mutating func observe(isOff: Bool) {
    self.isOff = isOff
    if isOff, let limit = wider { (longest, wider) = (max(longest, limit), nil) }
  }
}
