import DaemonSupport
import Foundation
import Service
import TestSupport
import Testing
import Wire

@testable import TactusDaemon

/// A small daemon's document: things that people have named.
private let document = #"""
  {"openapi": "3.1.0", "paths": {
    "/api/zones": {"get": {"tags": ["sprinkler"]}},
    "/api/zone/{id}/on": {"post": {"tags": ["sprinkler"],
      "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer", "minimum": 1, "maximum": 64}}],
      "requestBody": {"content": {"application/json": {"schema": {"type": "object", "additionalProperties": false, "properties": {
        "minutes": {"type": "number"}, "litres": {"type": "number"}, "mode": {"enum": ["set", "extend"]}}}}}}}},
    "/api/plants": {"get": {"tags": ["plants"]}},
    "/api/plants/{id}": {"get": {"tags": ["plants"],
      "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}]}},
    "/api/log": {"get": {"tags": ["sprinkler"], "parameters": [
      {"name": "zone", "in": "query", "schema": {"type": "integer"}}, {"name": "zoneId", "in": "query", "schema": {"type": "integer"}},
      {"name": "order", "in": "query", "schema": {"type": "string"}}]}},
    "/api/fan": {"get": {"tags": ["fan"]}},
    "/api/fan/blades/{index}/turn": {"post": {"tags": ["fan"],
      "parameters": [{"name": "index", "in": "path", "required": true, "schema": {"type": "integer", "minimum": 0}}]}},
    "/api/pump/on": {"post": {"tags": ["pump"], "requestBody": {"content": {"application/json": {"schema": {
      "type": "object", "required": ["speedPercent"], "properties": {
        "minutes": {"type": "number"}, "speedPercent": {"type": "number", "maximum": 100}}}}}}}}}}
  """#

private let answers: [String: JSONValue] = [
  "/api/zones": [
    "ok": true,
    "zones": [
      ["id": 1, "name": "Lawn"], ["id": 2, "name": "Roses"], ["id": 3, "name": "Pots"], ["id": 5, "name": "pots"],
    ],
  ],
  "/api/plants": ["plants": [["id": 7, "name": "Basil"], ["id": 8, "name": "Mint"], ["id": 9, "name": "Mint"]]],
  "/api/fan": ["blades": [["name": "left"], ["name": "right"]]],
]

@Suite("tactus call: names in place of numbers, and answers in words")
struct CallPeopleTests {
  private struct Refused: Error {}

  private let daemon: CallDescription

  init() throws { daemon = try #require(CallDescription(Array(document.utf8))) }

  /// `POST /api/zone/2/on`, or what is wrong; and what was looked up for it.
  private func said(_ words: [String], method: String? = nil) throws -> (said: String, looks: [String]) {
    var looks: [String] = []
    let names = CallNames(daemon: daemon) { path in
      let target = CallRequest(lookAt: path).target
      looks.append(target)
      guard let answer = answers[target] else { throw Refused() }
      return answer
    }
    do {
      let request = try CallRequest(names.resolved(CallWords(words), method: method), method: method, of: daemon)
      return ("\(request.method) \(request.target)" + (request.body.map { " \($0.compact)" } ?? ""), looks)
    } catch let error as CallError {
      return (error.description, looks)
    }
  }

  @Test(
    "a name in the path, in a query: its number, whatever its case; a number is taken as it is, and nothing is looked up"
  )
  func names() throws {
    #expect(try said(["zone/Roses", "on"], method: "POST").said == "POST /api/zone/2/on")
    #expect(try said(["zone/roses", "on", "minutes=5"]).said == #"POST /api/zone/2/on {"minutes":5}"#)
    #expect(try said(["plants/Basil"]).said == "GET /api/plants/7")
    #expect(try said(["log", "zone=Lawn", "order=Lawn"]).said == "GET /api/log?zone=1&order=Lawn")
    #expect(try said(["log", "zoneId=lawn"]).said == "GET /api/log?zoneId=1")
    #expect(try said(["fan/blades/right/turn"]).said == "POST /api/fan/blades/1/turn")
    // Exactly as written goes before any other case.
    #expect(try said(["zone/pots", "on"]).said == "POST /api/zone/5/on")
    let number = try said(["zone/2", "on", "minutes=5"])
    #expect(number.said == #"POST /api/zone/2/on {"minutes":5}"# && number.looks.isEmpty)
  }

  @Test("no thing or two of a name: an error with the names and numbers; a value that names nothing: as without names")
  func wrongNames() throws {
    #expect(
      try said(["zone/Rosse", "on"]).said
        == "zone: expected a number or one of Lawn (1), Roses (2), Pots (3), pots (5) (Roses?), got Rosse")
    #expect(
      try said(["plants/Mint"]).said == "plants: expected a number, since 2 are called Mint (8, 9), got the name")
    #expect(
      try said(["zone/POTS", "on"]).said == "zone: expected a number, since 2 are called POTS (3, 5), got the name")
    #expect(try said(["zone/1", "on", "minutes=abc"]).said == "minutes: expected a number, got abc")
    #expect(try said(["zone/65", "on"]).said == "id: expected an integer 1…64, got 65")
  }

  @Test("a value without its name: the names that it may have")
  func nameless() throws {
    #expect(try said(["pump", "on", "70"]).said == "pump on: expected NAME=VALUE (speedPercent=70), got 70")
    #expect(
      try said(["zone/2", "on", "5"]).said == "zone 2 on: expected NAME=VALUE (minutes=5 or litres=5), got 5")
    #expect(try said(["zone/2", "on", "extend"]).said == "zone 2 on: expected NAME=VALUE (mode=extend), got extend")
  }

  @Test("completion: paths as far as their next word or slash, then the values that are not given yet")
  func completion() throws {
    func offered(_ before: String..., prefix: String) -> [String] {
      CallCompletion.candidates(of: daemon, after: before, prefix: prefix)
    }
    #expect(
      offered(prefix: "zo") == ["zone", "zones"] && offered(prefix: "x").isEmpty && offered(prefix: "/zo").isEmpty)
    #expect(offered(prefix: "pump/o") == ["pump/on"] && offered("pump", prefix: "") == ["on"])
    #expect(offered("zone/1", prefix: "") == ["on"] && offered(prefix: "zone/Roses/") == ["zone/Roses/on"])
    #expect(offered("zone/1", "on", prefix: "") == ["litres=", "minutes=", "mode="])
    #expect(offered("zone/1", "on", "minutes=5", prefix: "m") == ["mode="])
    #expect(offered("log", prefix: "zo") == ["zone=", "zoneId="])
    #expect(offered("=", prefix: "").isEmpty)
  }

  @Test(
    "completion as a shell asks for it: from the running daemon, of a line that bash has parted; without a daemon nothing"
  )
  func completionOfShell() throws {
    let server = try CannedServer([
      "/api/openapi.json": .init(body: document), "/api/health": .init(body: #"{"systems":{"fan":"off"}}"#),
    ])
    defer { server.stop() }
    /// A shell is not kept waiting, so on a busy machine the daemon's answer may come too late: then it is asked again.
    func offered(_ argument: String, of command: String, _ line: String..., times: Int = 50) throws -> [Substring] {
      var offered: [Substring] = []
      for _ in 0..<times where offered.isEmpty {
        let shell = try TactusProcess(
          ["---completion", command, "--", argument, "\(line.count - 1)", "\(line.last?.count ?? 0)"] + line)
        #expect(shell.finish() == 0, "\(shell.said)")
        offered = shell.said.split(separator: "\n")
      }
      return offered
    }
    let port = "\(server.port)"
    #expect(try offered("positional@0", of: "call", "tactus", "call", "--port", port, "zo") == ["zone", "zones"])
    #expect(
      try offered(
        "positional@0", of: "call", "tactus", "call", "--port", port, "zone/1", "on", "minutes", "=", "5", "m") == [
          "mode="
        ])
    #expect(try offered("--system", of: "logs", "tactus", "logs", "--port", port, "--system", "") == ["fan"])
    let nobody = ReservedPort()
    defer { withExtendedLifetime(nobody) {} }
    #expect(
      try offered("positional@0", of: "call", "tactus", "call", "--port", "\(nobody.number)", "zo", times: 1).isEmpty)
  }

  private func words(_ json: String, _ command: String = "x", of group: String? = nil, isLook: Bool = false) throws
    -> String
  {
    AnswerInWords.text(try #require(JSONValue(json: Array(json.utf8))), to: command, of: group, isLook: isLook)
  }

  @Test("a command's answer: what has a state says it, by its name; else it is done, with the plain values")
  func commands() throws {
    #expect(
      try words(#"{"ok":true,"zoneId":2,"isOn":true,"zone":{"id":2,"name":"Roses","isOn":true,"remainingSec":300}}"#)
        == "Roses is on, 5 min left")
    #expect(
      try words(
        #"{"verdict":"accepted","leg":{"name":"front","state":"armed","reason":"armed, nothing set yet","wayOut":null}}"#
      )
        == "front: armed, nothing set yet")
    #expect(
      try words(#"{"ok":true,"fan":{"state":"off","reason":"stopped","wayOut":"reset it"}}"#)
        == "fan: off, stopped; reset it")
    #expect(
      try words(#"{"ok":true,"verdict":"accepted","state":"driving","monotonicNs":5}"#, "cart drive", of: "cart")
        == "cart: driving")
    #expect(
      try words(#"{"ok":true,"systems":["a","b"],"boost":{}}"#, "e-stop") == "e-stop: done, systems a, b")
    #expect(
      try words(#"{"ok":true,"percent":80,"untilISO":"2026-05-01T06:00:00Z"}"#, "seasonal")
        == "seasonal: done, percent 80, until 2026-05-01T06:00:00Z")
    #expect(try words(#"{"ok":true,"note":"a\u001b[2Jb"}"#) == "x: done, note a\\u001b[2Jb")
  }

  @Test("a look: the state, the plain values with their units, things one a line; longer parts are left to JSON")
  func looks() throws {
    let pump = #"""
      {"ok":true,"monotonicNs":1,"state":"on","reason":"on","fault":null,"offConfirmed":true,"speedPercent":70,"ageMs":4701.597987,
       "runSec":90,"speeds":{"left":1,"right":2},"none":[],"counters":{"a":1,"b":2,"c":3,"d":4,"e":5}}
      """#
    #expect(
      try words(pump, of: "pump", isLook: true) == """
        pump: on
        off confirmed  yes
        speed          70 %
        age            4701.6 ms
        run            1 min 30 s
        speeds         left 1, right 2
        none           none
        (--json prints all of it)
        """)
    let zones =
      #"{"ok":true,"zones":[{"id":1,"name":"Lawn","isOn":false},{"id":2,"name":"Roses","isOn":true,"remainingSec":60}]}"#
    #expect(try words(zones, isLook: true) == "zones:\n  1 Lawn is off\n  2 Roses is on, 1 min left")
    #expect(
      try words(#"{"log":[{"id":4,"zone":2,"startedISO":"a"},{"id":5,"zone":3,"note":null}]}"#, isLook: true)
        == "log:\n  4, zone 2, started a\n  5, zone 3")
    #expect(try words(#"{"ok":true}"#, isLook: true) == "nothing")
  }
}
