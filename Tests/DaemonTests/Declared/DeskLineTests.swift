import Dispatch
import Logging
import Synchronization
import Tactus
import TestSupport
import Testing
import Wire

@testable import Service
@testable import TactusDaemon

/// A doser in simulated time, with its desk.
private final class DoserRig {
  let desk: HostedDesk<Doser>
  let door: HostedDoor<Doser>
  private let bell = SimulatedInput()
  private let runtime: Runtime
  private let simulation: Simulation
  private let clock = SimulatedNow()
  /// Seconds of the wall clock.
  private let wall = Guarded<Int64>(0)
  private let wallClock: WatchedWallClock

  init() throws {
    let clock = clock
    let wallClock = WatchedWallClock(boot: nil) { [wall] in
      WallWatch.Sample(
        microseconds: (1_790_000_000 + wall.value) * 1_000_000, bootTime: .zero + .seconds(wall.value),
        isSynchronised: true)
    }
    self.wallClock = wallClock
    let loops = try HostedDoor<Doser>.mailboxes(state: Doser.initialState, rules: NoSettings())
    let requests = HostedDoor<Doser>.requests(of: Doser.name, loops, ring: {}, now: { clock.now })
    let state = loops.state
    desk = try HostedDesk(
      DeskMaterial<Doser>(
        name: Doser.name, wiring: Doser.Wiring(),
        newest: {
          var reader = state.reader()
          return reader.read()
        }, rules: { NoSettings() }, clock: wallClock, zone: .utc, logger: Logger(label: "test"),
        requests: requests, file: nil, opened: OpenedTables([], in: nil, of: Doser.name)))
    door = HostedDoor(
      loops, at: Doser.onlyPlace, beside: desk, requests: requests, notices: loops.noticeReader())
    let bell = bell
    runtime = try Runtime {
      Lane("doser") {
        Loop("doser", every: .hertz(10), phase: .zero, inputs: [.simulated(bell)]) {
          DoserLoop(ends: loops.loopEnds(requestBell: bell.doorbell), valve: nil, state: Doser.initialState)
        }
      }
    }
    simulation = try runtime.simulation()
    desk.thread.finish { desk.desk.portions = ["small": 10, "huge": 90] }
    pass()
  }

  var now: TickInstant { clock.now }
  var state: Doser.State { door.newest }
  var notes: [String] {
    var notes: [String] = []
    desk.thread.finish { notes = desk.desk.notes }
    return notes
  }

  /// The next day begins, with a clock that is confirmed.
  func sleep() {
    _ = wallClock.now
    wall.value += 86_400
  }

  /// A tick passes, and what the main thread of a daemon does then.
  func pass() {
    simulation.run(until: now + .milliseconds(100))
    clock.now = simulation.now
    door.takeAnswers(at: now, told: { desk.told($0) })
    _ = door.takeNotices(told: { desk.told($0) })
  }

  /// What is answered, sooner or later: what the document says, or the code of the error with its status.
  final class Reply: Sendable {
    private let text = Guarded<String?>(nil)

    init(_ work: @escaping @Sendable () async throws -> APIResponse) {
      Task { [text] in
        do {
          text.value = String(decoding: try await work().body, as: UTF8.self)
        } catch let error as APIError {
          text.value = "\(error.status.code) \(error.code)"
        } catch {
          text.value = "\(error)"
        }
      }
    }

    var found: String? { text.value }
  }

  func route(_ method: String, _ path: String) throws -> Route {
    try #require(door.routes.first { "\($0.method)" == method && $0.path == "/api/doser/\(path)" })
  }

  /// Sends a request that arrives now.
  func send(_ method: String, _ path: String, _ body: String = "", _ parameters: [String: String] = [:]) throws -> Reply
  {
    guard case .handler(let handle) = try route(method, path).handling else { preconditionFailure("no handler") }
    let caller = Caller(scope: .control, tokenID: nil, address: "", client: 1, arrived: now)
    let request = APIRequest(caller: caller, parameters: parameters, body: Array(body.utf8))
    return Reply { try await handle(request) }
  }

  /// Waits for an answer, while the loop ticks or not.
  func answer(to reply: Reply, loopRuns: Bool = true) async -> String {
    _ = await waits {
      if loopRuns { pass() }
      return reply.found != nil
    }
    return reply.found ?? "nothing"
  }

  func waits(_ condition: () -> Bool) async -> Bool {
    let until = MonotonicClock.now + .seconds(60)
    while MonotonicClock.now < until {
      if condition() { return true }
      await Task.yield()
    }
    return false
  }

  func ask(_ method: String, _ path: String, _ body: String = "", _ parameters: [String: String] = [:]) async throws
    -> String
  {
    await answer(to: try send(method, path, body, parameters))
  }

  /// Occupies the desk's thread as a disk does that hangs; signalled, the disk goes on.
  func hang() -> DispatchSemaphore {
    let disk = DispatchSemaphore(value: 0)
    desk.thread.run {
      disk.wait()
      return []
    }
    return disk
  }
}

@Suite("routes that order the loop, and a desk that does", .ownThread)
struct DeskLineTests {
  @Test("an order through a route: acknowledged by the loop, whose state shows it; a refusal is 409 with its code")
  func acknowledged() async throws {
    let bench = try DoserRig()
    #expect(try await bench.ask("POST", "pour", #"{"ml":30}"#) == #"{"ok":true,"leftMl":20}"#)
    #expect(bench.state.dosed == 30)
    #expect(try await bench.ask("POST", "pour", #"{"ml":21}"#) == "409 OVER_LIMIT")
    #expect(try await bench.ask("POST", "pour", #"{"ml":0}"#) == "422 VALIDATION")
    #expect(try await bench.ask("POST", "nothing") == #"{"ok":true}"#)
    #expect(bench.state.dosed == 30)
  }

  @Test("a route without the disk does not wait for it")
  func besideDisk() async throws {
    let bench = try DoserRig()
    let disk = bench.hang()
    #expect(try await bench.ask("POST", "pour", #"{"ml":30}"#) == #"{"ok":true,"leftMl":20}"#)
    disk.signal()
  }

  @Test("an order after the disk: what the desk throws orders nothing; what the loop refuses is taken back")
  func afterDisk() async throws {
    let bench = try DoserRig()
    #expect(try await bench.ask("POST", "portions/{name}", "", ["name": "small"]) == #"{"ok":true}"#)
    #expect(bench.state.dosed == 10)
    #expect(try await bench.ask("POST", "portions/{name}", "", ["name": "unknown"]) == "404 NOT_FOUND")
    #expect(try await bench.ask("POST", "portions/{name}", "", ["name": "huge"]) == "409 OVER_LIMIT")
    #expect(bench.notes == ["booked small", "began", "booked huge", "struck huge"] && bench.state.dosed == 10)
  }

  @Test("an off beats an on that is at the disk, and is answered beside it; an on that is asked for later counts")
  func overtaken() async throws {
    let bench = try DoserRig()
    #expect(try bench.route("DELETE", "dose").makesSafe && !(bench.route("POST", "pour").makesSafe))
    let disk = bench.hang()
    let on = try bench.send("POST", "portions/{name}", "", ["name": "small"])
    bench.pass()
    #expect(try await bench.ask("DELETE", "dose") == #"{"ok":true,"isNoted":false}"#)
    #expect(on.found == nil)
    disk.signal()
    #expect(await bench.answer(to: on) == "409 OVERTAKEN")
    #expect(bench.state.dosed == 0 && Set(bench.notes) == ["booked small", "ended"], "what is late is noted later")
    #expect(try await bench.ask("POST", "portions/{name}", "", ["name": "small"]) == #"{"ok":true}"#)
    #expect(bench.state.dosed == 10)
  }

  @Test("an on that is at the disk while an emergency stop comes and is reset: it did nothing and does nothing")
  func emergencyStop() async throws {
    let bench = try DoserRig()
    let disk = bench.hang()
    let on = try bench.send("POST", "portions/{name}", "", ["name": "small"])
    bench.pass()
    for word in ["e-stop", "reset"] { #expect(try await bench.ask("POST", word).hasPrefix(#"{"ok":true"#)) }
    #expect(bench.state.mode == .idle)
    disk.signal()
    #expect(await bench.answer(to: on) == "409 OVERTAKEN")
    #expect(bench.state.dosed == 0)
  }

  @Test("a mailbox that is full: 503 BUSY at once, while a stop still has its place")
  func full() async throws {
    let bench = try DoserRig()
    for _ in 0..<48 {
      bench.desk.orders.send(.reset, Asked(at: bench.now), makesSafe: false, client: 0) { _ in }
    }
    let pour = try bench.send("POST", "pour", #"{"ml":10}"#)
    #expect(await bench.answer(to: pour, loopRuns: false) == "503 BUSY")
    #expect(try await bench.ask("DELETE", "dose").hasPrefix(#"{"ok":true"#))
    #expect(bench.state.dosed == 0)
  }

  @Test("a loop that does not answer: 503 NOT_TAKEN after a second")
  func hung() async throws {
    let bench = try DoserRig()
    let line = DeskLine(bench.desk, Caller(scope: .control, tokenID: nil, address: "", client: 1, arrived: bench.now))
    let reply = DoserRig.Reply {
      try await line.order(.dose(10))
      return APIResponse(Done())
    }
    #expect(await bench.waits { bench.door.requests.waitingCount == 1 })
    bench.door.takeAnswers(at: bench.now + .seconds(1))
    #expect(await bench.answer(to: reply, loopRuns: false) == "503 NOT_TAKEN")
  }

  @Test("work at the disk: its result; with a limit, nothing if it does not come in time, and it is done all the same")
  func disk() async throws {
    let bench = try DoserRig()
    let line = DeskLine(bench.desk, Caller(scope: .control, tokenID: nil, address: "", client: 1, arrived: bench.now))
    #expect(line.asked == bench.now)
    #expect(try await line.disk { $0.portions.count } == 2)
    #expect(try await line.disk(patience: .seconds(600)) { $0.portions["small"] } == 10)
    await #expect(throws: APIError.self) { try await line.disk(patience: .seconds(600)) { try $0.book("none") } }
    let disk = bench.hang()
    for patience in [Nanoseconds.zero, .milliseconds(1)] {
      let noted: Void? = try await line.disk(patience: patience) { $0.note("\(patience.count)") }
      #expect(noted == nil)
    }
    // As many as may wait.
    for _ in 0..<62 {
      let isQueued = bench.desk.queue(asked: .zero, { _ in }, done: { _ in })
      #expect(isQueued)
    }
    let noted: Void? = try await line.disk(patience: .seconds(600)) { $0.note("too much") }
    #expect(noted == nil)
    await #expect(throws: APIError.self) { try await line.disk { $0.note("too much") } }
    disk.signal()
    #expect(bench.notes == ["0", "1000000"])
  }

  @Test("a schedule: the desk orders at its beat, is told what the loop tells, then the answer, on its thread")
  func schedule() throws {
    let bench = try DoserRig()
    func beat(_ portion: String) {
      bench.desk.thread.finish { bench.desk.desk.daily = portion }
      bench.desk.beat(bench.door.published, at: bench.now)
      bench.desk.thread.finish {}
    }
    beat("small")
    bench.pass()
    #expect(bench.state.dosed == 0 && bench.notes.isEmpty, "the clock is not confirmed")
    bench.sleep()
    beat("small")
    #expect(bench.notes.isEmpty && bench.state.dosed == 0, "the beat does not wait for the loop")
    bench.pass()
    #expect(bench.notes == ["began", "small: accepted"] && bench.state.dosed == 10)
    beat("small")
    bench.pass()
    #expect(bench.state.dosed == 10, "once a day")
    bench.sleep()
    beat("huge")
    bench.pass()
    #expect(bench.notes.last?.contains("refused") == true && bench.state.dosed == 10)
  }

  @Test("a beat that has waited for a disk starts nothing after an emergency stop, though that has been reset")
  func overtakenSchedule() async throws {
    let bench = try DoserRig()
    bench.sleep()
    bench.desk.thread.finish { bench.desk.desk.daily = "small" }
    let disk = bench.hang()
    bench.desk.beat(bench.door.published, at: bench.now)
    bench.pass()
    for word in ["e-stop", "reset"] { #expect(try await bench.ask("POST", word).hasPrefix(#"{"ok":true"#)) }
    disk.signal()
    bench.desk.thread.finish {}
    bench.pass()
    #expect(bench.notes == ["small: OVERTAKEN"] && bench.state.dosed == 0)
  }

  @Test("a route that orders is described with the refusal of the loop, whatever it takes")
  func described() throws {
    let bench = try DoserRig()
    let errors = Dictionary(
      uniqueKeysWithValues: bench.desk.descriptions.map {
        ("\($0.method.rawValue) \($0.path.dropFirst(11))", $0.description.errors)
      })
    #expect(errors["delete dose"] == ["409", "422", "503"] && errors["post pour"] == ["409", "503"])
    #expect(errors["put portions/{name}"] == ["409", "503"])
  }
}
