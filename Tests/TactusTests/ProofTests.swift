import Foundation
import TestSupport
import Testing

/// The compiler as the proof: a tick that may lock or allocate does not compile.
@Suite("Proof by the compiler", .ownThread)
struct ProofTests {
  static let good = """
    import Tactus
    struct Good: ControlLoop, NoOutput {
      var sum: Int64 = 0
      @_noLocks @_noAllocation
      mutating func tick(_ tick: Tick) { sum &+= tick.index }
    }
    """
  static let bad: [(name: String, body: String, complaint: String)] = [
    ("grows an array", "values.append(tick.index)", "error:"),
    ("makes a string", "text = \"tick \\(tick.index)\"", "error:"),
    ("makes an object", "object = Box()", "error:"),
    ("takes a mutex", "mutex.withLock { $0 += 1 }", "error:"),
    ("prints", "print(tick.index)", "error:"),
  ]

  @Test("a tick of plain values compiles")
  func accepted() throws {
    let (status, output) = try compile(Self.good)
    #expect(status == 0, "\(output)")
  }

  @Test("a tick that may lock or allocate is rejected", arguments: bad)
  func rejected(name: String, body: String, complaint: String) throws {
    let source = """
      import Synchronization
      import Tactus
      final class Box { var value = 0 }
      struct Bad: ~Copyable, ControlLoop, NoOutput {
        var values: [Int64] = []
        var text = ""
        var object = Box()
        let mutex = Mutex(0)
        @_noLocks @_noAllocation
        mutating func tick(_ tick: Tick) { \(body) }
      }
      """
    let (status, output) = try compile(source)
    #expect(status != 0)
    #expect(output.contains("lock") || output.contains("alloc") || output.contains("unpredictable"), "\(output)")
    // The same without the promise is fine: it is the annotation that rejects.
    let (plain, reason) = try compile(source.replacingOccurrences(of: "@_noLocks @_noAllocation", with: ""))
    #expect(plain == 0, "\(reason)")
  }

  @Test("a loop without a safe state is refused, and compiles once it says that it has no output")
  func safeState() throws {
    let silent = Self.good.replacingOccurrences(of: ", NoOutput", with: "")
    let (status, output) = try compile(silent)
    #expect(status != 0)
    #expect(output.contains("does not conform to protocol 'ControlLoop'"), "\(output)")
    #expect(output.contains("safeState(_:cause:)"), "\(output)")
  }
}
