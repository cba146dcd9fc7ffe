@_spi(FromOutside) import Conversions
import Tactus

/// A record in /run that the outputs of the previous run were turned off, with the instant and the process: the run's
/// guard, a stop hook, or the run itself if its store did not record the time.
public struct MadeSafe: Sendable, Hashable {
  /// The boot in which the outputs were turned off, or `nil` if the kernel did not report it.
  public var boot: BootID?
  /// The instant at which the first write began, by the clock of that boot (`BootClock`).
  public var at: TickInstant
  /// The instant at which the last write began. It turned off outputs that a loop had turned on since the first write.
  public var last: TickInstant
  /// The time of day of `at`, in RFC 3339.
  public var time: String
  /// The reason for the writes: `the daemon is gone`.
  public var cause: String
  /// The writes, one text each.
  public var writes: [String]
  /// Whether that run had stopped all outputs in order.
  public var isOrderly = false

  /// Makes a value of these properties.
  public init(
    boot: BootID?, at: TickInstant, last: TickInstant? = nil, time: String, cause: String, writes: [String]
  ) {
    (self.boot, self.at, self.last, self.time, self.cause, self.writes) = (boot, at, last ?? at, time, cause, writes)
  }

  /// Returns the instants at which outputs were turned off, the earliest first; empty if that happened in another boot.
  ///
  /// - Parameter current: the present boot, or `nil` if the kernel does not report it.
  public func instants(in current: BootID?) -> [TickInstant] { boot == current ? [at, last] : [] }
}

/// The form in which the guard writes the note to a file (`SafeStateNote`).
extension MadeSafe {
  private static let title = "tactus guard wrote the safe state 1"

  /// Returns the text of a note.
  ///
  /// - Parameter isOver: whether the program has come back under control since.
  func note(isOver: Bool = false) -> String {
    let lines =
      [
        Self.title, "boot \(boot?.description ?? "-")",
        "at \(at.nanoseconds)" + (last == at ? "" : " \(last.nanoseconds)"), "time \(time)", "cause \(cause)",
      ] + writes.map { "write \($0)" } + [isOver ? "over" : isOrderly ? "stopped" : "end"]
    return lines.joined(separator: "\n") + "\n"
  }

  /// Reads a note. Returns `nil` if the text is not a complete note, or if the note is over.
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
