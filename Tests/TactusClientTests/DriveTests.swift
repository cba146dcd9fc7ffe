import Foundation
import Testing

@testable import TactusClient

@Suite("Driving")
@MainActor
struct DriveTests {
  private func connected() async throws -> (Bench, RobotModel, FakeSocket) {
    let bench = Bench()
    await bench.connect(["robot": json(SampleStates.robot)])
    await eventually("a robot") { bench.model.robot != nil }
    return (bench, try #require(bench.model.robot), try #require(bench.daemon.socket))
  }

  /// Lets the sender's next beat come, which is due 50 ms after the last.
  private func beat(_ bench: Bench, _ socket: FakeSocket, answered: Bool = true) async {
    let (due, before) = (bench.clock.now + .milliseconds(50), socket.frames.count)
    // At a whole second the watch over the socket's silence wakes, too.
    let sleepers = due == .seconds(1) ? 2 : 1
    await eventually("the sender sleeps") { bench.clock.deadlines.prefix { $0 == due }.count == sleepers }
    bench.clock.advanceToNext()
    await eventually("a beat at \(due)") { socket.frames.count > before }
    if answered, let echo = socket.commands.last?["echo"]?.number { socket.reply(echo) }
  }

  private func isStop(_ command: [String: JSONValue]) -> Bool { command["command"] == .string("stop") }

  @Test("a held stick: a command every 50 ms; let go: three stops, and one by HTTP")
  func stream() async throws {
    let (bench, robot, socket) = try await connected()
    robot.hold(x: 0, y: 0.5)
    await eventually("a command at once") { socket.commands.count == 1 }
    socket.reply(1)
    await eventually("taken") { robot.isDriving }
    for _ in 0..<20 { await beat(bench, socket) }
    #expect(bench.clock.now == .seconds(1) && socket.commands.count == 21)
    #expect(socket.commands.allSatisfy { $0["left"] == .number(50) && $0["right"] == .number(50) })
    robot.letGo()
    await eventually("the stops") { bench.daemon.requests("/api/robot/stop").count == 1 }
    #expect(socket.commands.count == 24 && socket.commands.suffix(3).allSatisfy(isStop))
    #expect(robot.stick == nil && !robot.isDriving)
  }

  @Test("a stick that is moved: the next command has the new speeds, and no command comes beside the stream")
  func moved() async throws {
    let (bench, robot, socket) = try await connected()
    robot.hold(x: 0, y: 1)
    await eventually("a command at once") { socket.commands.count == 1 }
    for _ in 0..<5 { robot.hold(x: 1, y: 0) }
    await beat(bench, socket)
    #expect(socket.commands.count == 2)
    #expect(socket.commands.last?["left"] == .number(100) && socket.commands.last?["right"] == .number(-100))
  }

  @Test(
    "speeds: curvature is kept when a wheel would be beyond the limit",
    arguments: [
      (0.0, 1.0, 100.0, 100.0, 100.0), (1, 1, 100, 100, 0), (0.5, 0.5, 100, 100, 0), (0, 1, 40, 40, 40),
      (-1, -1, 50, -50, 0), (0, 0, 100, 0, 0), (0.5, 1, 100, 100, 100.0 / 3),
    ])
  func speeds(x: Double, y: Double, limit: Double, left: Double, right: Double) {
    let speeds = RobotModel.speeds(RobotModel.Stick(x: x, y: y), limit: limit)
    #expect(abs(speeds.left - left) < 1e-9 && abs(speeds.right - right) < 1e-9, "\(speeds)")
  }

  @Test(
    "the connection is lost while somebody drives: the hold ends, says why, and begins anew only when the thumb was lifted"
  )
  func lost() async throws {
    let (bench, robot, socket) = try await connected()
    robot.hold(x: 0, y: 1)
    await eventually("a command") { socket.commands.count == 1 }
    bench.daemon.answer("/api/status") { _ throws(ClientError) in throw .unreachable("gone") }
    bench.daemon.hasSocket = false
    socket.close()
    await eventually("lost") { bench.model.state == .lost(.unreachable("gone")) }
    await eventually("the sender sleeps") { bench.clock.deadlines.contains(.milliseconds(50)) }
    bench.clock.advanceToNext()
    await eventually("the hold has ended") { robot.stick == nil }
    #expect(robot.endOfHold == "the connection was lost")
    await eventually("a stop by HTTP is tried") { !bench.daemon.requests("/api/robot/stop").isEmpty }
    robot.hold(x: 0, y: 1)
    #expect(robot.stick == nil)
  }

  @Test("the daemon answers nothing for a second: the hold ends at that second, and the robot is stopped")
  func silent() async throws {
    let (bench, robot, socket) = try await connected()
    robot.hold(x: 0, y: 1)
    await eventually("a command at once") { socket.commands.count == 1 }
    socket.reply(1)
    await eventually("taken") { robot.isDriving }
    for _ in 0..<19 { await beat(bench, socket, answered: false) }
    #expect(robot.stick != nil && socket.commands.count == 20)
    await beat(bench, socket, answered: false)
    await eventually("the stops") { socket.commands.count == 23 }
    #expect(bench.clock.now == .seconds(1) && robot.stick == nil && socket.commands.suffix(3).allSatisfy(isStop))
    #expect(robot.endOfHold == "the daemon has not answered for a second")
  }

  @Test("somebody else drives: the hold ends with a word, and they are not stopped")
  func refused() async throws {
    let (bench, robot, socket) = try await connected()
    robot.hold(x: 0, y: 1)
    await eventually("a command at once") { socket.commands.count == 1 }
    socket.reply(1, "driving", reason: "not-controller")
    await eventually("the hold has ended") { robot.stick == nil }
    #expect(robot.endOfHold?.hasPrefix("somebody else drives") == true)
    // The thumb still moves.
    robot.hold(x: 0, y: 0.9)
    #expect(robot.stick == nil)
    robot.letGo()
    for _ in 0..<1000 { await Task.yield() }
    #expect(socket.commands.count == 1 && bench.daemon.requests("/api/robot/stop").isEmpty)
    robot.hold(x: 0, y: 0.9)
    #expect(robot.stick != nil && robot.endOfHold == nil)
  }

  @Test("the daemon takes no frame of the stick: the hold ends with its words; one that drove before is stopped")
  func notTaken() async throws {
    let (bench, robot, socket) = try await connected()
    robot.hold(x: 0, y: 1)
    await eventually("a command at once") { socket.commands.count == 1 }
    socket.reply(1)
    await eventually("taken") { robot.isDriving }
    socket.say(
      #"{"type":"error","system":"daemon","seq":1,"monotonicNs":1,"code":"FORBIDDEN","message":"it may only look"}"#)
    await eventually("the hold has ended") { robot.endOfHold == "it may only look" && robot.stick == nil }
    await eventually("the stop") { bench.daemon.requests("/api/robot/stop").count == 1 }
  }

  @Test("let go before the first answer: an answer that it was taken brings the stop")
  func late() async throws {
    let (bench, robot, socket) = try await connected()
    var other = SampleStates.robot
    other.holder = RobotState.Holder(source: "local client 9", ageMs: 10)
    bench.say("robot", json(other))
    await eventually("somebody else drives") { robot.state.holder != nil }
    robot.hold(x: 0, y: 1)
    await eventually("a command at once") { socket.commands.count == 1 }
    robot.letGo()
    for _ in 0..<1000 { await Task.yield() }
    #expect(bench.daemon.requests("/api/robot/stop").isEmpty && socket.commands.count == 1)
    socket.reply(1)
    await eventually("the stop") { bench.daemon.requests("/api/robot/stop").count == 1 }
  }

  @Test("without a WebSocket it drives by HTTP, one request at a time")
  func polling() async throws {
    let bench = Bench()
    bench.daemon.hasSocket = false
    bench.daemon.answer("/api/status", #"{"ok":true,"systems":{"robot":\#(json(SampleStates.robot))}}"#)
    bench.model.start()
    await eventually("a robot") { bench.model.robot != nil && bench.model.state == .live(.polling) }
    let robot = try #require(bench.model.robot)
    let gate = bench.daemon.hold("/api/robot/drive")
    robot.hold(x: 0, y: 1)
    for beat in 1...5 {
      await eventually("the sender sleeps") { bench.clock.deadlines.first == .milliseconds(50 * beat) }
      bench.clock.advanceToNext()
    }
    #expect(bench.daemon.requests("/api/robot/drive").count == 1)
    await gate.open()
    await eventually("taken") { robot.isDriving }
    robot.letGo()
    await eventually("the stop") { bench.daemon.requests("/api/robot/stop").count == 1 }
  }

  @Test("the app goes to the background: the robot is stopped, and the connection ends; in front again it is made anew")
  func background() async throws {
    let (bench, robot, socket) = try await connected()
    robot.hold(x: 0, y: 1)
    await eventually("a command at once") { socket.commands.count == 1 }
    socket.reply(1)
    await eventually("taken") { robot.isDriving }
    bench.model.sceneBecame(active: false)
    await eventually("the stop") { bench.daemon.requests("/api/robot/stop").count == 1 }
    #expect(robot.stick == nil && socket.isClosed && bench.model.state == .idle)
    bench.model.sceneBecame(active: true)
    await eventually("another socket") { bench.daemon.socketsOpened == 2 }
    // What was disconnected in front stays so.
    bench.model.stop()
    bench.model.sceneBecame(active: false)
    bench.model.sceneBecame(active: true)
    #expect(bench.model.state == .idle)
  }

  @Test("the model goes away while somebody drives: the robot is stopped, and the connection ends")
  func gone() async throws {
    let daemon = FakeDaemon()
    let clock = ManualClock()
    daemon.answer("/api/systems", #"{"ok": true, "systems": []}"#)
    var model: DaemonModel? = DaemonModel(
      Endpoint(host: "test"), transport: daemon, clock: clock, random: FixedRandom())
    model?.start()
    await eventually("a socket") { daemon.socket != nil }
    let socket = try #require(daemon.socket)
    socket.say(Bench.hello)
    socket.say(#"{"type":"state","system":"robot",\#(json(SampleStates.robot).dropFirst())"#)
    await eventually("a robot") { model?.robot != nil }
    model?.robot?.hold(x: 0, y: 1)
    await eventually("a command at once") { socket.commands.count == 1 }
    weak let gone = model
    model = nil
    await eventually("the model is gone") { gone == nil }
    await eventually("the connection has ended") { socket.isClosed }
    await eventually("the sender sleeps") { clock.deadlines.contains(.milliseconds(50)) }
    clock.advanceToNext()
    await eventually("the stop") { daemon.requests("/api/robot/stop").count == 1 }
  }
}
