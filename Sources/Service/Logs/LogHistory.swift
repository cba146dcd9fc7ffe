@_spi(FromOutside) import Conversions
import Logging
import Synchronization

/// The newest log lines, as JSON. It may be used from any thread; the lock is held for a few copies only.
public final class LogHistory: Sendable {
  /// The result of a query.
  public struct Page: Sendable, Equatable {
    /// JSON objects in the order of their numbers; each begins with the line's number, `seq`.
    public var lines: [String]
    /// The number to ask for next, so that no line is missed or returned twice.
    public var next: Int64
    /// The number of lines that were discarded between the number asked for and the oldest line kept.
    public var dropped: Int64
  }

  private struct Line {
    var level: Logger.Level
    var system: String
    var text: String

    func matches(_ level: Logger.Level, _ system: String?) -> Bool {
      self.level >= level && (system == nil || self.system == system)
    }
  }

  private struct Lines {
    /// A ring buffer: line number n is at n modulo its size.
    var ring: [Line?]
    var first: Int64 = 0
    var end: Int64 = 0
    var bytes = 0

    subscript(number: Int64) -> Line {
      get { ring[Int(number % Int64(ring.count))]! }
      set { ring[Int(number % Int64(ring.count))] = newValue }
    }

    func text(_ number: Int64) -> String { "{\"seq\":\(number)," + self[number].text.dropFirst() }

    mutating func removeFirst() {
      bytes -= self[first].text.utf8.count
      ring[Int(first % Int64(ring.count))] = nil
      first += 1
    }
  }

  private let capacity: Int
  private let capacityBytes: Int
  private let lines: Mutex<Lines>

  /// Makes an empty history. The oldest lines are discarded when there are more than `capacity` lines, or more than `bytes` bytes.
  public init(capacity: Int = 4096, bytes: Int = 2 << 20) {
    precondition(capacity > 0 && bytes > 0)
    self.capacity = capacity
    capacityBytes = bytes
    lines = Mutex(Lines(ring: Array(repeating: nil, count: capacity)))
  }

  /// Adds a line. `text` is a JSON object with at least one member, without secrets.
  public func append(level: Logger.Level, system: String, text: String) {
    precondition(text.utf8.first == UInt8(ascii: "{") && text.utf8.count > 2)
    lines.withLock { lines in
      while lines.first < lines.end,
        lines.end - lines.first >= capacity || lines.bytes + text.utf8.count > capacityBytes
      {
        lines.removeFirst()
      }
      lines[lines.end] = Line(level: level, system: system, text: text)
      lines.bytes += text.utf8.count
      lines.end += 1
    }
  }

  /// Returns the lines at `level` or above, of `system`, or of all systems if that is `nil`.
  ///
  /// - Parameters:
  ///   - since: the first number of interest, or `nil` for the newest `limit` matching lines. A number that has not
  ///     been reached yet, as after a restart of the daemon, finds no lines, and `next` is then the number of the next
  ///     line.
  ///   - limit: the greatest number of lines; the oldest ones from `since` on are returned.
  public func page(since: Int64?, limit: Int, level: Logger.Level = .trace, system: String? = nil) -> Page {
    lines.withLock { lines in
      guard let since else {
        var newest: [String] = []
        var number = lines.end
        while number > lines.first, newest.count < limit {
          number -= 1
          if lines[number].matches(level, system) { newest.append(lines.text(number)) }
        }
        return Page(lines: newest.reversed(), next: lines.end, dropped: 0)
      }
      guard since <= lines.end else { return Page(lines: [], next: lines.end, dropped: 0) }
      var page = Page(lines: [], next: max(since, lines.first), dropped: max(0, lines.first - since))
      while page.next < lines.end, page.lines.count < limit {
        if lines[page.next].matches(level, system) { page.lines.append(lines.text(page.next)) }
        page.next += 1
      }
      return page
    }
  }
}
