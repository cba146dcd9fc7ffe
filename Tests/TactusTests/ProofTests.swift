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
  static let chain = """
    import Tactus
    struct Tilt: BitwiseCopyable { var angle = 0.0 }
    struct Balance: ~Copyable, ControlLoop, NoOutput {
      var tilt: LatestReader<Sampled<Tilt>>
      var speed: LatestReader<Sampled<Double>>
      var commands: RingReader<Sampled<Double>>
      var torque: LatestWriter<Sampled<Double>>
      let age: AgeMeter
      @_noLocks @_noAllocation
      mutating func tick(_ tick: Tick) {
        let (tilt, speed) = (tilt.read(), speed.read())
        age.uses(tilt)
        age.uses(sampledAt: speed.sampledAt)
        guard let command = commands.pop() else { return torque.write(Sampled(0, at: tick)) }
        torque.write(Sampled(tilt.value.angle + speed.value + command.value, from: tilt, speed, command))
      }
    }
    """
  static let ends = """
    import Tactus
    enum Order: BitwiseCopyable, Sendable { case set(Double), stop }
    enum Refusal: BitwiseCopyable, Sendable { case tooFast(limit: Double) }
    struct State: BitwiseCopyable, Sendable { var duty = 0.0, isStopped = true }
    struct Rules: BitwiseCopyable, Sendable { var most = 0.5 }
    typealias Mailbox = LoopMailbox<Order, Refusal, UInt32, State, Rules>
    struct Fan: ~Copyable, ControlLoop {
      var ends: Mailbox.Ends
      var gains: RulesInput<Double>
      var state = State()
      @_noLocks @_noAllocation
      mutating func tick(_ tick: Tick) {
        ends.begin(tick)
        gains.begin()
        while let request = ends.next() {
          switch request.order {
          case .set(let duty) where duty > ends.rules.most:
            ends.answer(request, .refused(.tooFast(limit: ends.rules.most)))
            continue
          case .set(let duty): state = State(duty: duty * gains.rules, isStopped: false)
          case .stop:
            state = State()
            ends.report(request.client)
          }
          ends.answer(request, .accepted)
        }
        gains.finish(isSafe: state.isStopped)
        ends.finish(state, isSafe: state.isStopped)
      }
      @_noLocks @_noAllocation
      mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
        ends.beginSafeState(tick)
        if ends.dropped == 0 { ends.report(0) }
        state = State()
        ends.finish(state, isSafe: true)
      }
    }
    """
  static let bad: [(name: String, body: String, complaint: String)] = [
    ("grows an array", "values.append(tick.index)", "error:"),
    ("makes a string", "text = \"tick \\(tick.index)\"", "error:"),
    ("makes an object", "object = Box()", "error:"),
    ("takes a mutex", "mutex.withLock { $0 += 1 }", "error:"),
    ("prints", "print(tick.index)", "error:"),
  ]

  @Test("a tick of plain values compiles, and one that hands on how old its data is", arguments: [good, chain])
  func accepted(source: String) throws {
    let (status, output) = try compile(source)
    #expect(status == 0, "\(output)")
  }

  @Test(
    "a loop with requests, answers, notices and rules that change compiles, optimised or not",
    arguments: ["-Onone", "-O"])
  func accepted(mode: String) throws {
    let (status, output) = try compile(Self.ends, options: [mode])
    #expect(status == 0 && !output.contains("warning:"), "\(output)")
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
