import Tactus
import Testing

@testable import TactusDaemon

/// A device whose declaration says much of which nothing would come.
private enum Sieve: DeviceSystem, Sees {
  static let name = "sieve"
  static let summary = "Holds no water."
  static let initialState = State()
  static let emergencyStop = Order.off
  static func isEmergencyStopped(_ state: State) -> Bool { false }
  static let reset = Order.off
  static let nothingToReset: Refusal? = nil
  static let whenClientLeaves: Order? = nil
  static var fields: [Field<State>] { Field("drops", \.drops, "How many.").kept }
  static func seen(_ published: Published<State>, _ look: Look<Sieve>) -> State { published.state }
  static var seenFields: [Field<State>] { Field("litres", \.drops, "How much.").kept }
  static var commands: [Command<Order>] {
    Command("shake", "Shakes it.") { .off }
    Command("shake", "Shakes it again.") { .off }
  }
  typealias Refusal = NoRefusal
  typealias Notice = NoNotice
  enum Order: BitwiseCopyable, Sendable { case off }
  struct State: BitwiseCopyable, Sendable { var drops = 0 }

  struct Hole: Settings {
    var width = 1
    static var keys: [Key<Hole>] { Key("width", \.width, in: 1...9, "How wide.").kept }
  }
  struct Wiring: Settings {
    var holes = [Hole()]
    var mesh = 1
    static var keys: [Key<Wiring>] {
      Key("holes", \.holes, upTo: 3, "Its holes.")
      Key("mesh", \.mesh, in: 1...9, "How fine.").kept
    }
  }
  typealias Rules = NoSettings

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    _ = bench.fault("clogged", "It is clogged.")
    _ = bench.fault("clogged", "It is clogged again.")
    _ = bench.safeStateAfter
    mailbox.eachSecond { _, _ in }
    mailbox.eachSecond { _, _ in }
    return []
  }
}

@Suite("what a declaration cannot be")
struct MisdeclaredTests {
  @Test("what would be dropped silently, or trap at the start: one error of check, with what to write instead")
  func told() throws {
    let error = try #require(throws: Misdeclared.self) { _ = try ConfiguredSystem<Sieve>() }
    #expect(
      "\(error)".split(separator: "; ") == [
        "two commands are called shake: expected a name for each",
        "holes[].width is no rule, which no client can set: expected it in Rules, or no .kept",
        "mesh is no rule, which no client can set: expected it in Rules, or no .kept",
        "litres is shown, and the state is kept: expected .kept at a field of `fields`",
        "drops: nothing gives it back: expected Resumes, or no .kept",
        "two faults are called clogged: expected a name for each",
        "bench.safeStateAfter: expected ShapesLane, whose LaneKeys have safeStateAfter:",
        "mailbox.eachSecond is called twice: expected one call, for all that it logs",
        "no loop has the mailboxes: expected one by mailbox.loop(…) among `loops`, or WithoutLoops",
      ])
  }

  @Test("a word that nothing can be made of ends the program with a sentence, in every build, and does not trap")
  func ended() async throws {
    let result = await #expect(processExitsWith: .exitCode(70), observing: [\.standardErrorContent]) {
      _ = Key<Sieve.Hole>("Width", \.width, in: 1...9, "How wide.")
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("the declaration of a system: a key's name is lower-case letters, digits and _: Width"))
  }
}
