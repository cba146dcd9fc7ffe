import Service
import Store
import Tactus
import WallTime

@testable import TactusDaemon

/// Everything beside the loops that a declaration has: several of a kind, a list, kept fields, tables of two releases, a desk with routes.
enum Jar: DeviceSystem, Several, Keeps, Resumes, Serves, Offers {
  static let name = "jar"
  static let list = "jars"
  static let most = 3
  static let summary = "A jar."
  static let initialState = State()
  static let emergencyStop = Order.stop
  static func isEmergencyStopped(_ state: State) -> Bool { false }
  static let reset = Order.stop
  static let nothingToReset: Refusal? = nil
  static let whenClientLeaves: Order? = nil

  static var fields: [Field<State>] {
    Field("state", \.mode, "What it does.")
    Field("fills", \.fills, kind: .counter, "Times that it was filled.").kept
    Field("level", \.level, "How full it is.").kept
    Field("open", \.isOpen, "Whether it is open.").kept
    Field("last", \.mode, "What it did last.").kept
    Field("eaten", \.eaten, "What was taken out today, of which there may be so much.").keptAtOnce
  }
  static var commands: [Command<Order>] { Command("fill", "Fills it.") { .fill } }

  static func resume(_ state: inout State, _ kept: Kept) {
    state.fills = kept.value("fills") ?? 0
    state.level = kept.value("level") ?? 0
    state.isOpen = kept.value("open") ?? false
    state.mode = kept.value("last") ?? .idle
    state.eaten = kept.value("eaten") ?? 0
  }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    let lid = try bench.output(\.lid, safe: .inactive)
    let chip = try bench.spi(\.chip, mode: 0, safe: .none(because: "it is only read"))
    return [
      mailbox.loop("jar", every: .hertz(10), safeStateAfter: 5) { ends in
        JarLoop(ends: ends, lid: lid.port(), chip: chip.port(), state: mailbox.initialState)
      }
    ]
  }

  static var tables: [Table<Wiring>] { firstTables + [jars] }
  /// Those of the release before.
  static var firstTables: [Table<Wiring>] {
    [Table("jar_fills", Fill.self, since: 1, number: \.number, time: \.at, keepDays: \.days, most: 5)]
  }
  private static var jars: Table<Wiring> {
    Table("jar_notes", Note.self, since: 2, number: \.number).leftOpen(\Note.text, is: "lost")
  }

  static func desk(_ made: DeskMaterial<Jar>) -> JarDesk {
    made.offer(JarSupply(jar: made.name))
    return JarDesk(made)
  }
  static var routes: [SystemRoute<Jar>] {
    SystemRoute.get("sum", query: Sum.self, answers: SumAnswer.self, "Adds.") { _, sum, _ in
      SumAnswer(sum: sum.first + sum.second)
    }
    SystemRoute.post("fills/{number}/kind", body: Kind.self, answers: Fill.self, "Says what was filled in.") {
      desk, kind, _ in
      try desk.fills.change(kind.number) { $0.kind = kind.kind }
    }
    SystemRoute.put("plan", body: Plan.self, answers: Plan.self, "Takes a plan.") { desk, plan, _ in
      desk.plan = plan
      return plan
    }
    SystemRoute.delete("plan", query: NoSettings.self, answers: Done.self, "Forgets the plan.") { desk, _, _ in
      guard desk.plan != nil else { throw APIError.notFound("there is no plan") }
      desk.plan = nil
      return Done()
    }
    SystemRoute.raw("picture", query: NoSettings.self, contentType: "image/x-dots", "A picture.") { _, _, _ in
      [1, 2, 3]
    }
    SystemRoute.history("fills", of: Fill.self, "What was filled in.")
    SystemRoute.history("fills.csv", of: Fill.self, "The same as CSV.")
  }

  struct Wiring: Settings {
    var lid = GPIOLineNames.first
    var chip = "/dev/spidev0.0"
    var days = 10
    var layers = [Layer()]

    static var keys: [Key<Wiring>] {
      Key("lid", \.lid, "")
      Key("chip", \.chip, "")
      Key("days", \.days, in: 1...100, "")
      Key("layers", \.layers, upTo: 3, "Its layers.")
    }
  }

  struct Layer: Settings, Equatable {
    var grams = 100
    var fruit = Fruit.plum

    static var keys: [Key<Layer>] {
      Key("grams", \.grams, in: 1...1_000, "Its weight.")
      Key("fruit", \.fruit, "What it is.")
    }
    func check(_ report: (PartialKeyPath<Layer>, String) -> Void) {
      if fruit == .fig, grams > 500 { report(\.grams, "expected at most 500 of figs, got \(grams)") }
    }
  }

  enum Fruit: String, Word { case plum, fig }
  typealias Rules = NoSettings
  typealias Refusal = NoRefusal
  enum Order: BitwiseCopyable, Sendable { case fill, stop }
  enum Notice: String, NoticeWord {
    case filled
    var isTrouble: Bool { false }
    var sentence: String { "it was filled" }
  }
  enum Mode: String, Word { case idle, filled }
  struct State: BitwiseCopyable, Sendable {
    var mode = Mode.idle
    var fills = 0
    var level = 0.0
    var isOpen = false
    var eaten = 0
  }

  struct Fill: Settings, Answers, Equatable {
    var number = 0
    var at = WallInstant(secondsSince1970: 0)
    var grams = 0.0
    var kind: String?
    var fruit: Fruit?
    var isLast = false

    static var keys: [Key<Fill>] {
      Key.number(\.number)
      Key("filled_at", \.at, "When.")
      Key("grams", \.grams, in: 0...1_000, "How much.")
      Key("kind", \.kind, "What.")
      Key("fruit", \.fruit, "Which.")
      Key("is_last", \.isLast, "Whether it is full.")
    }
  }

  struct Note: Settings {
    var number = 0
    var isLoud = true
    var text: String?
    static var keys: [Key<Note>] {
      Key.number(\.number)
      Key("is_loud", \.isLoud, "How.").since(3)
      Key("text", \.text, "What.")
    }
  }

  struct Sum: Settings {
    var first = 0
    var second = 5
    static var keys: [Key<Sum>] {
      Key("first_part", \.first, in: 1...10, "One.")
      Key("second", \.second, in: 0...10, "Another.")
    }
  }

  struct SumAnswer: Answers {
    let sum: Int
    static var fields: [Field<SumAnswer>] { Field("sum", \.sum, "What they come to.") }
  }

  struct Kind: Settings {
    var number = 0
    var kind = ""
    static var keys: [Key<Kind>] {
      Key.number(\.number)
      Key("kind", \.kind, "What it is.")
    }
  }

  struct Plan: Settings, Answers {
    var start = WallInstant(secondsSince1970: 0)
    var layers: [Layer] = []
    static var keys: [Key<Plan>] {
      Key("start", \.start, "When it begins.")
      Key("layers", \.layers, upTo: 2, "What is filled in.")
    }
  }
}

/// Keeps what it is told, and nothing else.
final class JarDesk: SystemDesk {
  let fills: RowTable<Jar.Fill>
  let notes: RowTable<Jar.Note>
  var plan: Jar.Plan?
  var heard: [String] = []
  var outcome = KeptOutcome.known

  init(_ made: DeskMaterial<Jar>) {
    fills = made.table(Jar.Fill.self)
    notes = made.table(Jar.Note.self)
  }

  func told(_ notice: Told<Jar.Notice>) { heard.append("\(notice.notice)") }
  func beat(_ newest: Published<Jar.State>) { heard.append("beat") }
  func finish(_ last: Published<Jar.State>) { heard.append("finish") }
}

/// What a jar offers to other systems.
struct JarSupply: Sendable {
  let jar: String
}
