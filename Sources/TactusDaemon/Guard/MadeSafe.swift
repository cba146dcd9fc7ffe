import Tactus

/// When and by whom the outputs of the program before this one were turned off, as a note in /run says: by its guard or a stop hook, or by that program
/// itself if its store did not take the instant.
public struct MadeSafe: Sendable, Hashable {
  /// The boot in which that was, or `nil` if the kernel did not say.
  public var boot: BootID?
  /// When it began, by that boot's clock (`BootClock`).
  public var at: TickInstant
  /// When the last write began. It turned off whatever a loop had turned on since the first write.
  public var last: TickInstant
  /// `at` by the time of day, in RFC 3339.
  public var time: String
  /// Why: `the daemon is gone`.
  public var cause: String
  /// What was written, a text each.
  public var writes: [String]
  /// Whether the program itself had stopped everything in order.
  public var isOrderly = false

  /// - Parameters: see the properties.
  public init(
    boot: BootID?, at: TickInstant, last: TickInstant? = nil, time: String, cause: String, writes: [String]
  ) {
    (self.boot, self.at, self.last, self.time, self.cause, self.writes) = (boot, at, last ?? at, time, cause, writes)
  }

  /// Returns the instants at which outputs were turned off, the earliest first; empty if that was in another boot.
  ///
  /// - Parameter current: the boot that goes on.
  public func instants(in current: BootID?) -> [TickInstant] { boot == current ? [at, last] : [] }
}

/// As the guard notes it in a file (`SafeStateNote`).
extension MadeSafe {
  private static let title = "tactus guard wrote the safe state 1"

  /// The text of a note.
  ///
  /// - Parameter isOver: the program has come back since.
  func note(isOver: Bool = false) -> String {
    let lines =
      [
        Self.title, "boot \(boot?.description ?? "-")",
        "at \(at.nanoseconds)" + (last == at ? "" : " \(last.nanoseconds)"), "time \(time)", "cause \(cause)",
      ] + writes.map { "write \($0)" } + [isOver ? "over" : isOrderly ? "stopped" : "end"]
    return lines.joined(separator: "\n") + "\n"
  }

  /// `nil` for any other text, one that was cut short included, and for one that is over.
  init?(note text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    func value(_ index: Int, _ key: String) -> String? {
      guard lines.indices.contains(index), lines[index].hasPrefix(key + " ") else { return nil }
      return String(lines[index].dropFirst(key.count + 1))
    }
    let end = lines.suffix(2)
    guard lines.first == Self.title[...], end == ["end", ""] || end == ["stopped", ""], let boot = value(1, "boot"),
      let instants = value(2, "at")?.split(separator: " ", omittingEmptySubsequences: false).map({ Int64($0) }),
      let at = instants[0], let last = instants.last!, instants.count <= 2, at <= last, let time = value(3, "time"),
      let cause = value(4, "cause")
    else { return nil }
    let writes = (5..<max(5, lines.count - 2)).compactMap { value($0, "write") }
    self.init(
      boot: boot == "-" ? nil : BootID(boot), at: TickInstant(nanoseconds: at), last: TickInstant(nanoseconds: last),
      time: time, cause: cause, writes: writes)
    isOrderly = end.first == "stopped"
  }
}
