import ServiceSupport
import Synchronization
import Tactus
import TestSupport
import Testing

@testable import Service

@Suite("commands over a messaging link, carried out", .ownThread)
struct RemoteCommandsTests {
  /// A gate that a handler waits at until it is opened.
  final class Gate: Sendable {
    private let passes: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    init() { (passes, continuation) = AsyncStream.makeStream(of: Void.self) }
    func open() { continuation.yield() }
    func pass() async { for await _ in passes { break } }
  }

  /// Where any number of handlers wait until it is opened.
  final class Barrier: Sendable {
    private let waiting = Mutex<(isOpen: Bool, tasks: [CheckedContinuation<Void, Never>])>((false, []))
    func open() {
      let tasks = waiting.withLock { waiting in
        waiting.isOpen = true
        return waiting.tasks
      }
      for task in tasks { task.resume() }
    }
    func pass() async {
      await withCheckedContinuation { task in
        let isOpen = waiting.withLock { waiting in
          if !waiting.isOpen { waiting.tasks.append(task) }
          return waiting.isOpen
        }
        if isOpen { task.resume() }
      }
    }
  }

  final class Clock: Sendable {
    private let nanoseconds = Atomic<Int64>(1_000_000_000)
    var now: TickInstant { TickInstant(nanoseconds: nanoseconds.load(ordering: .acquiring)) }
    func go(milliseconds: Int64) { nanoseconds.wrappingAdd(milliseconds * 1_000_000, ordering: .acquiringAndReleasing) }
  }

  private let clock = Clock()
  private let log = RecordingLog()
  private let answers = CommandAnswers()

  private func commands(_ systems: [any ServedSystem]) -> RemoteCommands {
    RemoteCommands(systems, link: "mqtt", logger: log.logger, now: { [clock] in clock.now })
  }

  private func send(_ commands: RemoteCommands, _ path: [String], _ text: String, isOld: Bool = false) {
    commands.receive(path: path, payload: Array(text.utf8), isOld: isOld) { answers.add($0) }
  }

  private static func route(
    _ path: String, scope: Scope = .control, makesSafe: Bool = false, _ work: @escaping @Sendable () async -> Void
  ) -> Route {
    Route(.post, path, scope: scope, action: "fake.act") { request in
      await work()
      return .json(["ok": true], logValue: "x")
    }.makingSafe(makesSafe)
  }

  @Test("one system's commands: one after the other in their order; a stop waits for nobody, nor does an e-stop")
  func order() async throws {
    let (gate, box) = (Gate(), Box())
    let fake = FakeSystem(
      routes: [
        Self.route("/api/fake/slow") {
          await gate.pass()
          box.add("slow")
        }, Self.route("/api/fake/quick") { box.add("quick") }, Self.route("/api/fake/e-stop") { box.add("e-stop") },
        Self.route("/api/fake/drop", makesSafe: true) { box.add("drop") },
      ])
    let commands = commands([fake])
    send(commands, ["fake"], "slow")
    send(commands, ["fake"], "quick")
    send(commands, ["fake"], "e-stop")
    #expect(try await answers.code() == "ok")
    send(commands, ["fake"], "drop")
    #expect(try await answers.code() == "ok")
    #expect(box.words == ["e-stop", "drop"])
    gate.open()
    _ = await answers.next(2)
    #expect(box.words == ["e-stop", "drop", "slow", "quick"])
  }

  final class Box: Sendable {
    private let list = Mutex<[String]>([])
    func add(_ word: String) { list.withLock { $0.append(word) } }
    var words: [String] { list.withLock { $0 } }
  }

  @Test(
    "too many: 100 a second and 64 waiting, the rest refused by name and counted; what waited too long is STALE"
  )
  func bounds() async throws {
    let (gate, entered) = (Gate(), Gate())
    let fake = FakeSystem(
      routes: [
        Self.route("/api/fake/go") {
          entered.open()
          await gate.pass()
        }, Self.route("/api/fake/stop", makesSafe: true) {},
        Self.route("/api/fake/e-stop") {},
      ])
    let commands = commands([fake])
    for _ in 0..<200 { send(commands, ["fake"], "go") }
    // One is being carried out or waits for its task, 64 wait, of the first hundred.
    let refused = commands.outcomes
    #expect(refused["TOO_MANY_COMMANDS", default: 0] + refused["BUSY", default: 0] >= 135)
    #expect(refused["TOO_MANY_COMMANDS", default: 0] >= 100)
    let taken = 200 - Int(refused.values.reduce(0, +))
    send(commands, ["fake"], "e-stop")
    _ = await answers.next(200 - taken + 1)
    #expect(commands.outcomes["ok"] == 1)
    await entered.pass()
    clock.go(milliseconds: 1_100)
    gate.open()
    _ = await answers.next(taken)
    #expect(commands.outcomes["ok"] == 2)
    #expect(commands.outcomes["STALE"] == Int64(taken - 1))
    // The allowance is whole again.
    send(commands, ["fake"], "stop")
    #expect(try await answers.code() == "ok")
  }

  @Test("64 commands wait: a stop is carried out at once; 64 stops may be in progress, and an e-stop beside them")
  func stopBesideMany() async throws {
    let (gate, held, entered) = (Gate(), Barrier(), Gate())
    let fake = FakeSystem(
      routes: [
        Self.route("/api/fake/go") {
          entered.open()
          await gate.pass()
        }, Self.route("/api/fake/stop", makesSafe: true) {},
        Self.route("/api/fake/hold", makesSafe: true) { await held.pass() }, Self.route("/api/fake/e-stop") {},
      ])
    let commands = commands([fake])
    send(commands, ["fake"], "go")
    await entered.pass()
    for _ in 0..<70 { send(commands, ["fake"], "go") }
    #expect(commands.outcomes == ["BUSY": 6])
    _ = await answers.next(6)
    send(commands, ["fake"], "stop")
    #expect(try await answers.code() == "ok")
    for _ in 0..<65 { send(commands, ["fake"], "hold") }
    #expect(try await answers.code() == "BUSY")
    send(commands, ["fake"], "e-stop")
    #expect(try await answers.code() == "ok")
    held.open()
    _ = await answers.next(64)
    #expect(commands.outcomes == ["BUSY": 7, "ok": 66])
    gate.open()
  }

  @Test("the link lost: what waits is not done, and said to be so; a stop was done before")
  func lostWhileWaiting() async throws {
    let (gate, entered, box) = (Gate(), Gate(), Box())
    let fake = FakeSystem(
      routes: [
        Self.route("/api/fake/go") {
          box.add("go")
          entered.open()
          await gate.pass()
        }, Self.route("/api/fake/stop", makesSafe: true) { box.add("stop") },
      ])
    let commands = commands([fake])
    send(commands, ["fake"], "go")
    await entered.pass()
    for word in ["go", "stop", "go"] { send(commands, ["fake"], word) }
    #expect(try await answers.code() == "ok")
    commands.linkLost()
    #expect(commands.outcomes == ["ok": 1, "LINK_LOST": 2])
    for _ in 0..<3 { gate.open() }
    _ = await answers.next(3)
    #expect(box.words == ["go", "stop"])
    #expect(commands.outcomes == ["LINK_LOST": 2, "ok": 2])
  }

  @Test("an e-stop of what is not known, or with an id that is none: everything is stopped, and the answer says why")
  func stopOfUnknown() async throws {
    let fake = FakeSystem(routes: [Self.route("/api/fake/go") {}])
    let commands = commands([fake])
    for (number, path) in [["robto"], ["fake", "3"], ["all"], Array(repeating: "a", count: 9)].enumerated() {
      send(commands, path, #"{"command":"e-stop","id":7}"#)
      let answer = try #require(await answers.next(1).first)
      #expect(answer.hasPrefix(#"{"id":7,"message":"no such"#) || answer.hasPrefix(#"{"id":7,"message":"no system"#))
      #expect(answer.contains(#": everything was stopped","ok":true,"#), "\(path): \(answer)")
      #expect(fake.asked.stops == number + 1)
    }
    send(commands, [], #"{"command":"e-stop","id":[7]}"#)
    #expect(try await answers.code() == "ok")
    #expect(fake.asked.stops == 5)
  }

  @Test("no such system, command or scope, and a retained command: refused by name; the answer lists what there is")
  func unknown() async throws {
    let fake = FakeSystem(
      routes: [
        Self.route("/api/fake/{index}/go") {}, Self.route("/api/fake/admin", scope: .admin) {},
        Route(.get, "/api/fake") { _ in .json(["ok": true]) },
      ])
    let commands = commands([fake])
    for (path, text) in [
      (["robot"], "go"), (["all"], "reset"), (["fake"], "admin"), (["fake"], "go"), (["fake", "a/b"], "fly"),
    ] {
      send(commands, path, text)
      let answer = try #require(await answers.next(1).first)
      #expect(answer.contains("NOT_FOUND"), "\(path) \(text): \(answer)")
      if path == ["fake"] { #expect(answer.contains("{index} go")) }
    }
    #expect(log.lines.filter { $0.message == "a command was refused" }.count == 5)
    send(commands, ["fake", "3"], "go", isOld: true)
    #expect(try await answers.code() == "RETAINED")
    send(commands, ["fake", "3"], "go")
    #expect(try await answers.code() == "ok")
    send(commands, [], "reset")
    #expect(try await answers.code() == "ok")
    #expect(fake.asked.resets == 1)
  }

  @Test("refused without end: each is answered and counted, ten a second are in the log, and how many are not")
  func refusedWithoutEnd() async throws {
    let commands = commands([FakeSystem(routes: [])])
    func told() -> [RecordingLog.Line] { log.lines.filter { $0.message == "a command was refused" } }
    for _ in 0..<500 { send(commands, ["nobody"], "go") }
    #expect(await answers.next(500).count == 500)
    #expect(commands.outcomes == ["NOT_FOUND": 500])
    #expect(told().count == 10 && told().allSatisfy { $0.metadata["untold"] == nil })
    clock.go(milliseconds: 1_000)
    send(commands, ["nobody"], "go")
    #expect(told().count == 11 && told().last?.metadata["untold"] == "490")
    send(commands, ["nobody"], "go")
    #expect(told().count == 12 && told().last?.metadata["untold"] == nil)
  }
}
