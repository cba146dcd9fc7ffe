import ServiceSupport
import Tactus
import TestSupport
import Testing

@testable import RobotDaemon
@testable import Service
@testable import TactusDaemon

@Suite("commands over a messaging link, carried out by the robot", .ownThread)
struct RobotRemoteCommandsTests {
  private let log = RecordingLog()
  private let answers = CommandAnswers()

  private func commands(_ systems: [any ServedSystem]) -> RemoteCommands {
    RemoteCommands(systems, link: "mqtt", logger: log.logger, now: { TickInstant(nanoseconds: 1_000_000_000) })
  }

  private func send(_ commands: RemoteCommands, _ path: [String], _ text: String) {
    commands.receive(path: path, payload: Array(text.utf8), isOld: false) { answers.add($0) }
  }

  @Test(
    "robot: drive over the link moves the motors, answers as HTTP does with the id; a silent link stops it 1 s later")
  func robot() async throws {
    let bench = try RobotDoorBench()
    bench.run(until: 10)
    _ = bench.writes()
    let commands = commands([bench.door])
    send(commands, ["robot"], #"{"command":"drive","id":7,"left":60,"right":-60}"#)
    await bench.rung()
    bench.run(until: 20)
    #expect(bench.writes().last == "run 153 -153")
    let text = try #require(await answers.next(1).first)
    #expect(text.hasPrefix(#"{"id":7,"#) && text.contains(#""ok":true"#) && text.contains(#""verdict":"accepted""#))
    bench.run(until: 1_000)
    #expect(!bench.writes().contains("stop"))
    bench.run(until: 1_080)
    #expect(bench.writes().contains("stop"))
    let line = try #require(log.lines.first { $0.message == "action" })
    #expect(line.metadata["caller"] == "mqtt" && line.metadata["action"] == "drive" && line.metadata["result"] == "ok")
  }

  @Test("robot: the link lost while it drives stops it at the next release; an e-stop latches, a drive is refused then")
  func lost() async throws {
    let bench = try RobotDoorBench()
    bench.run(until: 10)
    let commands = commands([bench.door])
    send(commands, ["robot"], #"{"command":"drive","left":60,"right":60}"#)
    await bench.rung()
    bench.run(until: 20)
    _ = bench.writes()
    _ = await answers.next(1)
    commands.linkLost()
    await bench.rung()
    bench.run(until: 30)
    #expect(bench.writes().contains("stop"))
    send(commands, [], "e-stop")
    await bench.rung()
    bench.run(until: 40)
    #expect(try await answers.code() == "ok")
    send(commands, ["robot"], #"{"command":"drive","left":60,"right":60}"#)
    await bench.rung()
    bench.run(until: 50)
    #expect(try await answers.code() == "EMERGENCY_STOPPED")
    #expect(commands.outcomes == ["ok": 2, "EMERGENCY_STOPPED": 1])
  }
}
