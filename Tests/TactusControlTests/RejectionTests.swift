import Foundation
import TestSupport
import Testing

/// The table of README.md, row by row: what the compiler rejects in a tick, and what it accepts in its place.
@Suite("What a tick may not do", .ownThread)
struct RejectionTests {
  static let rows: [(rejected: String, named: String, instead: String)] = [
    ("x = sin(x)", "sin(x)", "x = Math.sin(x)"),
    ("x = x.squareRoot()", "x.squareRoot()", "x = Math.sqrt(x)"),
    ("x = x.rounded()", "x.rounded()", "x = Math.round(x)"),
    ("x = x.rounded(.up)", "x.rounded(.up)", "x = Math.ceil(x)"),
    ("x = x.remainder(dividingBy: y)", "x.remainder(dividingBy: y)", "x = Math.remainder(x, y)"),
    ("count = Int(exactly: x) ?? 0", "Int(exactly: x)", "count = Math.integer(x) ?? 0"),
    ("_ = Duration.seconds(x)", "Duration.seconds(x)", "span = Nanoseconds(clampingSeconds: x) ?? span"),
    ("span = Nanoseconds.seconds(x)", "Nanoseconds.seconds(x)", "span = Nanoseconds(clampingSeconds: x) ?? span"),
    ("if span == .zero { x = 0 }", "span == .zero", "if span.count == 0 { x = 0 }"),
    ("for value in [x, y] { x += value }", "for value in [x, y]", "for index in 0..<4 { x += fixed[index] }"),
    (
      "@_noLocks @_noAllocation func twice<T: BinaryFloatingPoint>(_ x: T) -> T { x + x }; x = twice(x)",
      "twice<T: BinaryFloatingPoint>", "x = total(x, y)"
    ),
    ("let span = fixed.span; x = span[0]", "fixed.span", "x = fixed[0]"),
    ("values.append(x)", "values.append(x)", "fixed[0] = x"),
    ("closure = { $0 + y }; x = closure(x)", "{ $0 + y }", "x = total(x, y)"),
  ]

  @Test("every row of the table: rejected on the left, accepted on the right", arguments: 0..<rows.count)
  func row(index: Int) throws {
    let (rejected, named, instead) = Self.rows[index]
    let (status, said) = try compile(Self.loop(rejected))
    #expect(status != 0 && said.contains("error:"), "\(rejected) was accepted")
    let unproved = Self.loop(rejected).replacingOccurrences(of: "@_noLocks @_noAllocation", with: "")
    let (plain, reason) = try compile(unproved)
    #expect(plain == 0, "it is not the promise that rejects \(rejected): \(reason)")
    let (accepted, complaint) = try compile(Self.loop(instead))
    #expect(accepted == 0, "\(complaint)")
    #expect(try Self.readme.contains("| `\(named)`"), "README.md does not name \(named)")
  }

  static var readme: String {
    get throws {
      try String(
        contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
          .appending(path: "../../Sources/TactusControl/README.md"), encoding: .utf8)
    }
  }

  static func loop(_ line: String) -> String {
    """
    import Foundation
    import Tactus
    import TactusControl
    @_noLocks @_noAllocation func total(_ x: Double, _ y: Double) -> Double { x + y }
    struct Tried: ControlLoop, NoOutput {
      var x = 0.5, y = 2.0, count = 0, span = Nanoseconds.zero
      var values: [Double] = []
      var fixed: [4 of Double] = [1, 2, 3, 4]
      var closure: (Double) -> Double = { $0 }
      @_noLocks @_noAllocation
      mutating func tick(_ tick: Tick) { let y = y; \(line); self.y = y }
    }
    """
  }
}
