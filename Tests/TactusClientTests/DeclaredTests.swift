import Foundation
import Testing

@testable import TactusClient

@Suite("Systems of strangers")
@MainActor
struct DeclaredTests {
  static let oven = #"""
    {"ok": true, "systems": [{"name": "oven", "title": "Oven", "summary": "It is hot.", "simulated": true, "stops": true,
      "fields": [{"name": "celsius", "meaning": "How hot.", "type": "number", "unit": "°C", "kind": "gauge"}],
      "commands": [
        {"name": "heat", "meaning": "Heats.", "scope": "control", "makesSafe": false, "parameters": [
          {"name": "celsius", "meaning": "How hot.", "type": "integer", "unit": "°C", "minimum": 20, "maximum": 250},
          {"name": "fan", "meaning": "Its fan.", "type": "string", "unit": "", "choices": ["on", "off"], "standard": "on"}]},
        {"name": "cool", "meaning": "Cools.", "scope": "control", "makesSafe": true, "parameters": []},
        {"name": "{index}/light", "meaning": "Lights a plate.", "scope": "control", "makesSafe": false, "parameters": [
          {"name": "celsius", "meaning": "How hot.", "type": "integer", "unit": "°C"}]}],
      "notices": [], "faults": [],
      "settings": [{"name": "mostPercent", "meaning": "Most.", "type": "number", "unit": "%", "maximum": 80, "value": 80, "mayChange": true},
        {"name": "pwm", "meaning": "Which.", "type": "string", "unit": "", "value": "a", "mayChange": false}]}]}
    """#

  private func oven() async throws -> (Bench, DeclaredModel) {
    let bench = Bench()
    bench.daemon.answer("/api/systems", Self.oven)
    await bench.connect(["oven": #"{"state": "off", "celsius": 21.5}"#])
    await eventually("an oven") { bench.model.declared.first?["celsius"] == .number(21.5) }
    return (bench, try #require(bench.model.declared.first))
  }

  @Test("a described system has a model with its title, fields and values, which follow the daemon")
  func model() async throws {
    let (bench, oven) = try await oven()
    #expect(oven.description.title == "Oven" && oven.description.fields.map(\.unit) == ["°C"])
    bench.say("oven", #"{"state": "on", "celsius": 180}"#)
    await eventually("news") { oven["celsius"] == .number(180) && oven["state"] == .string("on") }
  }

  @Test("a command is sent with its parameters, once; one that makes safe is tried again")
  func commands() async throws {
    let (bench, oven) = try await oven()
    try await oven.call("heat", ["celsius": .number(180)])
    #expect(bench.daemon.requests("/api/oven/heat").map(\.body) == [Data(#"{"celsius":180}"#.utf8)])
    bench.daemon.answer("/api/oven/heat") { _ throws(ClientError) in throw .unreachable("gone") }
    await #expect(throws: ClientError.unreachable("gone")) { try await oven.call("heat", ["celsius": .number(180)]) }
    #expect(bench.daemon.requests("/api/oven/heat").count == 2)
    bench.daemon.answer("/api/oven/cool") { _ throws(ClientError) in throw .unreachable("gone") }
    let cool = Task { try await oven.call("cool") }
    await eventually("a wait") { bench.clock.deadlines.contains(.seconds(0.75)) }
    bench.daemon.answer("/api/oven/cool", "{}")
    bench.clock.advanceToNext()
    try await cool.value
    #expect(bench.daemon.requests("/api/oven/cool").map(\.body) == [nil, nil])
  }

  @Test("one of several of a kind is reached by both parts of its name: commands, settings, stop, reset")
  func several() async throws {
    let bench = Bench()
    bench.daemon.answer("/api/systems", Self.oven.replacingOccurrences(of: #""oven""#, with: #""oven/left""#))
    await bench.connect(["oven/left": #"{"celsius": 20}"#])
    await eventually("an oven") { bench.model.declared.first?.id == "oven/left" }
    let oven = try #require(bench.model.declared.first)
    try await oven.call("cool")
    try await oven.emergencyStop()
    try await oven.reset()
    try await oven.set(["mostPercent": .number(60)])
    try await oven.call("light", item: 1, ["celsius": .number(80)])
    #expect(
      bench.daemon.requests.map(\.path).filter { $0.hasPrefix("/api/oven") } == [
        "/api/oven/left/cool", "/api/oven/left/e-stop", "/api/oven/left/reset", "/api/oven/left/settings",
        "/api/oven/left/1/light",
      ])
  }

  @Test("a command on an item of a list takes the item's index, and the system's own commands take none")
  func items() async throws {
    let (bench, oven) = try await oven()
    #expect(oven.description.commands.map(\.word) == ["heat", "cool", "light"])
    #expect(oven.description.commands.map(\.isOfItem) == [false, false, true])
    try await oven.call("light", item: 2, ["celsius": .number(80)])
    #expect(bench.daemon.requests("/api/oven/2/light").map(\.body) == [Data(#"{"celsius":80}"#.utf8)])
    #expect(oven.shown("celsius") == .number(21.5))
    let heat = "expected one of light, got heat"
    await #expect(throws: ClientError.invalid(field: "command", message: heat)) { try await oven.call("heat", item: 0) }
    let light = "expected one of heat, cool, got light"
    await #expect(throws: ClientError.invalid(field: "command", message: light)) { try await oven.call("light") }
    let negative = ClientError.invalid(field: "index", message: "expected 0 or more, got -1")
    await #expect(throws: negative) { try await oven.call("light", item: -1, ["celsius": .number(80)]) }
    #expect(bench.daemon.requests.filter { $0.path.hasPrefix("/api/oven") }.count == 1)
  }

  @Test(
    "a parameter that is a field: a control shows what was asked for until the daemon says so, a label what is reported"
  )
  func asked() async throws {
    let (bench, oven) = try await oven()
    let gate = bench.daemon.hold("/api/oven/heat")
    let heat = Task { try await oven.call("heat", ["celsius": .number(180)]) }
    await eventually("asked") { bench.daemon.requests("/api/oven/heat").count == 1 }
    #expect(oven.shown("celsius") == .number(180) && oven["celsius"] == .number(21.5))
    #expect(oven.shown("state") == .string("off") && oven.shown("fan") == nil)
    await gate.open()
    try await heat.value
    bench.say("oven", #"{"state": "on", "celsius": 180}"#)
    await eventually("the daemon says so") { oven["celsius"] == .number(180) }
    bench.say("oven", #"{"state": "on", "celsius": 170}"#)
    await eventually("it is believed again") { oven.shown("celsius") == .number(170) }
  }

  @Test(
    "what the description forbids is not sent, and named",
    arguments: [
      ("heat", [:], "celsius", "expected integer °C from 20.0 to 250.0, got nothing"),
      ("heat", ["celsius": .number(300)], "celsius", "expected integer °C from 20.0 to 250.0, got 300"),
      ("heat", ["celsius": .number(20.5)], "celsius", "expected integer °C from 20.0 to 250.0, got 20.5"),
      ("heat", ["celsius": .string("hot")], "celsius", "expected integer °C from 20.0 to 250.0, got hot"),
      ("heat", ["celsius": .number(20), "fan": .string("half")], "fan", "expected one of on, off, got half"),
      ("heat", ["celsius": .number(20), "light": .bool(true)], "light", "heat has no such parameter"),
      ("bake", [:], "command", "expected one of heat, cool, got bake"),
    ] as [(String, [String: JSONValue], String, String)])
  func wrong(command: String, parameters: [String: JSONValue], field: String, message: String) async throws {
    let (bench, oven) = try await oven()
    await #expect(throws: ClientError.invalid(field: field, message: message)) {
      try await oven.call(command, parameters)
    }
    #expect(bench.daemon.requests("/api/oven/\(command)").isEmpty)
  }

  @Test("a setting that may change is put; one that may not, or beyond its range, is not sent")
  func settings() async throws {
    let (bench, oven) = try await oven()
    try await oven.set(["mostPercent": .number(60)])
    let put = try #require(bench.daemon.requests("/api/oven/settings").first)
    #expect(put.method == "PUT" && put.body == Data(#"{"mostPercent":60}"#.utf8))
    await #expect(throws: ClientError.invalid(field: "pwm", message: "it may not change while the daemon runs")) {
      try await oven.set(["pwm": .string("b")])
    }
    await #expect(throws: ClientError.invalid(field: "mostPercent", message: "expected number % to 80.0, got 81")) {
      try await oven.set(["mostPercent": .number(81)])
    }
    #expect(bench.daemon.requests("/api/oven/settings").count == 1)
  }

  @Test("a stranger's system that is called like one of ours has a model made from its description")
  func namesake() async throws {
    let bench = Bench()
    bench.daemon.answer("/api/systems", Self.oven.replacingOccurrences(of: #""oven""#, with: #""pump""#))
    await bench.connect(["pump": json(SampleStates.pump)])
    await eventually("declared") { bench.model.declared.first?.id == "pump" }
    #expect(bench.model.pump == nil)
  }
}
