import ArgumentParser
import AvahiSystemd
import Service
import Tactus
import TactusGuard
import Testing

@testable import TactusDaemon

/// A bell with everything that only some systems have, and its file can ask for the simulated one.
private enum Bell: DeviceSystem, HasCommands, Checks, Reaches, MayBeSimulated {
  static let name = "bell"
  static let summary = "A bell."
  static let initialState = State()
  static let emergencyStop = Order.hold
  static func isEmergencyStopped(_ state: State) -> Bool { false }
  static let reset = Order.hold
  static let nothingToReset: Refusal? = nil
  static let whenClientLeaves: Order? = nil
  typealias Rules = NoSettings
  typealias Refusal = NoRefusal

  struct Wiring: Settings {
    var pwm = PWMOutputName(chip: "/sys/class/pwm/pwmchip0", channel: 0)
    var isSimulated = false

    static var keys: [Key<Wiring>] {
      Key("pwm", \.pwm, "Its output.")
      Key("simulated", \.isSimulated, "Whether there is none.")
    }
  }
  struct State: BitwiseCopyable, Sendable { var strokes = 0 }
  enum Order: BitwiseCopyable, Sendable { case hold }
  enum Notice: String, NoticeWord {
    case none
    var isTrouble: Bool { false }
    var sentence: String { "nothing" }
  }
  struct Ring: ParsableCommand {}

  static var fields: [Field<State>] { Field("strokes", \.strokes, kind: .counter, "Times that it was struck.") }
  static var commands: [Command<Order>] { Command("hold", makesSafe: true, "Holds it.") { .hold } }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    _ = try bench.pwm(\.pwm, period: .milliseconds(1), safe: .inactive)
    return [mailbox.loop("bell", every: .hertz(10), safeStateAfter: 5) { BellTestLoop(ends: $0) }]
  }

  static var terminal: [any ParsableCommand.Type] { [Ring.self] }
  static func diagnoses(_ doctor: Doctor) -> [Diagnosis] {
    [Diagnosis(name: "bell", status: .ok, found: "it hangs", why: "it would fall")]
  }
  static func reach(_ wiring: Wiring, _ rules: Rules) -> Reach { Reach() }
  static func announcements(host: String, port: UInt16, hasTLS: Bool) -> [AnnouncedService] {
    [AnnouncedService(name: "\(host) bell", type: "_bell._tcp", port: port)]
  }
  static var guardOutputs: [String: (String) throws -> any GuardOutput] { ["bell": { _ in throw ExitCode(1) }] }
  static func isSimulated(_ wiring: Wiring) -> Bool { wiring.isSimulated }
}

private struct BellTestLoop: ~Copyable, ControlLoop {
  var ends: Bell.Ends

  init(ends: consuming Bell.Ends) { self.ends = ends }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    ends.finish(Bell.State(), isSafe: true)
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) {}
}

@Suite("what only some declared systems have")
struct AdoptedTests {
  private let kind = DeclaredKind(Bell.self)

  @Test(
    "commands of the terminal, announcements, what doctor looks at, and outputs of the guard are those of the declaration"
  )
  func adopted() {
    #expect(kind.commands.map { "\($0)" } == ["Ring"])
    #expect(kind.announcements(host: "yard", port: 80, hasTLS: false).map(\.name) == ["yard bell"])
    #expect(kind.diagnoses(Doctor(machine: Machine.at(root: "/nowhere"))).map(\.found) == ["it hangs"])
    #expect(Array(kind.guardOutputs.keys) == ["bell"])
  }

  @Test(
    "a file that asks for the simulated hardware: nothing is claimed or left to the guard, and it is still a system that drives"
  )
  func simulated() throws {
    let real = try ConfiguredSystem<Bell>()
    #expect(!real.isSimulated && real.claims.count == 1 && real.safeWrites.count == 1)
    var wiring = Bell.Wiring()
    wiring.isSimulated = true
    let simulated = try ConfiguredSystem<Bell>(wiring)
    #expect(simulated.isSimulated && simulated.claims.isEmpty && simulated.safeWrites.isEmpty)
    #expect(simulated.safeLines.isEmpty && simulated.driven == "the bell")
  }
}
