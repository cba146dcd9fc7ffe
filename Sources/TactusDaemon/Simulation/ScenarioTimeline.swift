@_spi(FromOutside) import Conversions
import Tactus

/// The lines of a scenario in progress, and the number of failed expectations.
public struct ScenarioTimeline {
  /// The function that receives each line.
  public let print: (String) -> Void
  /// The record so far: every line, and the value that each check saw at each event and expectation.
  let trace: ScenarioTrace
  private(set) var failures = 0

  /// Creates a timeline.
  ///
  /// - Parameter print: called with each line, which has no line feed.
  public init(print: @escaping (String) -> Void) {
    let trace = ScenarioTrace()
    self.trace = trace
    self.print = { line in
      trace.add(line)
      print(line)
    }
  }

  /// Adds a line: the time since the start in seconds with three decimals, the source of the event, and a description.
  public func say(_ at: TickInstant, _ who: String, _ text: String) {
    let microseconds = (at - .zero).count / 1_000
    let decimals = String(1_000_000 + microseconds % 1_000_000).dropFirst().prefix(3)
    let time = "\(microseconds / 1_000_000).\(decimals) s"
    print("\(TerminalText.right(time, 12))  \(TerminalText.left(who, 11)) \(text)")
  }

  // MARK: expectations

  /// Adds the result of an expectation, which is met if both texts are equal.
  ///
  /// - Parameter at: the time since the start.
  public mutating func compare(_ at: Nanoseconds, _ name: String, _ expected: String, _ got: String) {
    if expected == got { pass(at, "\(name) \(got)") } else { fail(at, "\(name): expected \(expected), got \(got)") }
  }

  /// Adds the result of an expectation, which is met if `text` contains `part`.
  public mutating func find(_ at: Nanoseconds, _ name: String, _ part: String, in text: String) {
    if text.contains(part) { pass(at, "\(name) \(part)") } else { fail(at, "\(name): expected \(part), got \(text)") }
  }

  /// Adds the result of an expectation, which is met if the value lies in the range, both bounds included. The value is
  /// `nil` if it is unknown.
  ///
  /// - Parameter at: the time since the start.
  public mutating func measure(_ at: Nanoseconds, _ name: String, _ range: ClosedRange<Double>, _ value: Double?) {
    let (low, high) = (Self.number(range.lowerBound), Self.number(range.upperBound))
    let expected = range.lowerBound == range.upperBound ? low : "\(low)…\(high)"
    guard let value else { return fail(at, "\(name): expected \(expected), got nothing: it is unknown") }
    if range.contains(value) {
      pass(at, "\(name) \(Self.number(value)) in \(expected)")
    } else {
      fail(at, "\(name): expected \(expected), got \(Self.number(value))")
    }
  }

  /// Adds a failed expectation with the reason.
  ///
  /// - Parameter at: the time since the start.
  public mutating func fail(_ at: Nanoseconds, _ text: String) {
    failures += 1
    say(.zero + at, "FAILED", text)
  }

  private func pass(_ at: Nanoseconds, _ text: String) { say(.zero + at, "ok", text) }

  /// Prints the last line. Returns whether every expectation was met.
  func conclude() -> Bool {
    print(failures == 0 ? "every expectation was met" : "\(failures) expectation\(failures == 1 ? "" : "s") not met")
    return failures == 0
  }

  /// Prints the hash of the run, which covers every line so far, the value that each check saw, and the loops' ticks.
  /// Equal runs have equal hashes, and runs that differ have different ones.
  ///
  /// - Parameter ticks: the hash of the loops' ticks, as `Simulation.traceHash`.
  public func printTrace(_ ticks: UInt64) {
    trace.add("\(ticks)")
    print("trace \(String(trace.hash, radix: 16)): the same for the same file and seed")
  }

  // MARK: numbers

  /// Returns the number as text with at most three decimals.
  public static func number(_ value: Double) -> String {
    let thousandths = (value * 1000).rounded()
    guard abs(thousandths) < 1e15 else { return "\(value)" }
    let whole = Int(saturating: thousandths.magnitude)
    var text = "\(whole / 1000)"
    if whole % 1000 != 0 {
      var decimals = String(1000 + whole % 1000).dropFirst()
      while decimals.last == "0" { decimals.removeLast() }
      text += "." + decimals
    }
    return (thousandths < 0 ? "−" : "") + text
  }
}

/// A hash of texts in their order (FNV-1a).
final class ScenarioTrace {
  private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325

  func add(_ text: String) {
    // Each text ends with a byte that no text contains.
    for byte in text.utf8 + [0xFF] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }
}
