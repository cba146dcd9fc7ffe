import DaemonSupport
import Foundation
import TestSupport
import Testing
import Wire

@testable import Service
@testable import TactusDaemon
@testable import TactusProgram

/// A small daemon's document: every form that a command's parameters come in.
private let document = #"""
  {"openapi": "3.1.0", "tags": [{"name": "daemon"}, {"name": "robot"}, {"name": "sprinkler"}],
   "paths": {
    "/api/e-stop": {"post": {"summary": "Stop everything.", "tags": ["daemon"]}},
    "/api/leg/arm": {"post": {"summary": "Arm all.", "tags": ["leg"]}},
    "/api/leg/{index}/arm": {
      "parameters": [{"name": "index", "in": "path", "required": true, "schema": {"type": "integer", "minimum": 0, "maximum": 15}}],
      "post": {"summary": "Arm a leg.", "tags": ["leg"]}},
    "/api/leg/{index}/{what}": {"post": {"summary": "Other.", "tags": ["leg"]}},
    "/api/queue": {
      "get": {"summary": "What waits.", "tags": ["sprinkler"], "parameters": [
        {"name": "limit", "in": "query", "schema": {"type": "integer"}}, {"name": "mode", "in": "query", "schema": {}}]},
      "post": {"summary": "Run zones.", "tags": ["sprinkler"], "requestBody": {"$ref": "#/components/requestBodies/Queue"}},
      "delete": {"summary": "Drop it.", "tags": ["sprinkler"]}},
    "/api/log": {"get": {"tags": ["sprinkler"], "parameters": [
      {"name": "limit", "in": "query", "schema": {"type": "integer"}}, {"name": "order", "in": "query", "schema": {"type": "string"}}]}},
    "/api/restore": {"post": {"summary": "A file.", "tags": ["sprinkler"], "requestBody": {"content": {"application/x": {"schema": {}}}}}},
    "/api/robot": {"get": {"summary": "The robot.", "tags": ["robot"]}},
    "/api/robot/drive": {"post": {"summary": "Set the wheels' speeds.", "tags": ["robot"], "requestBody": {"content": {"application/json": {
      "schema": {"type": "object", "required": ["left", "right"], "additionalProperties": false, "properties": {
        "timestamp": {"type": ["number", "null"], "x-unit": "s"},
        "left": {"type": "number", "minimum": -100, "maximum": 100, "x-unit": "%"},
        "right": {"$ref": "#/components/schemas/Percent"}}}}}}}},
    "/api/seasonal": {
      "get": {"tags": ["sprinkler"]},
      "put": {"tags": ["sprinkler"], "requestBody": {"content": {"application/json": {"schema": {
        "type": "object", "properties": {"percent": {"type": "integer"}}}}}}}},
    "/zone/on/{n}": {"post": {"summary": "As it was.", "tags": ["sprinkler"]}}
   },
   "components": {
    "schemas": {
      "Percent": {"type": "number", "minimum": -100, "maximum": 100},
      "Loop": {"$ref": "#/components/schemas/Loop"},
      "ByZone": {"type": "object", "required": ["zones", "mode"], "additionalProperties": false, "properties": {
        "zones": {"type": "array"}, "mode": {"enum": ["set", "extend", null]}, "dry": {"type": "boolean"}, "name": {"type": "string"},
        "any": {}, "loop": {"$ref": "#/components/schemas/Loop"}, "id": {"type": ["integer", "string"]}}},
      "ByList": {"type": "object", "required": ["mode"], "additionalProperties": false, "properties": {
        "mode": {"const": "list"}, "limits": {"type": ["object", "null"]}}}},
    "requestBodies": {"Queue": {"content": {"application/json": {"schema": {"oneOf": [
      {"$ref": "#/components/schemas/ByZone"}, {"$ref": "#/components/schemas/ByList"}]}}}}}}}
  """#

@Suite("tactus call", .ownThread)
struct CallTests {
  private let daemon: CallDescription

  init() throws { daemon = try #require(CallDescription(Array(document.utf8))) }

  /// `POST /api/robot/drive {"left":30}`, or what is wrong.
  private func said(_ words: String..., method: String? = nil) -> String {
    do throws(CallError) {
      let request = try CallRequest(CallWords(words), method: method, of: daemon)
      return "\(request.method) \(request.target)" + (request.body.map { " \($0.compact)" } ?? "")
    } catch {
      return error.description
    }
  }

  @Test(
    "what the document says is checked before anything is sent: ranges, whole numbers, words, what is required, the path"
  )
  func declared() {
    #expect(said("robot", "drive", "left=300", "right=0") == "left: expected a number -100…100, got 300")
    #expect(said("robot", "drive", "left:=300", "right=0") == "left: expected a number -100…100, got 300")
    #expect(said("robot", "drive", "left=30") == "robot drive: expected right=NUMBER(-100…100), got none")
    #expect(
      said("robot", "drive", method: "POST").hasSuffix(
        "expected left=NUMBER(-100…100 %) right=NUMBER(-100…100), got none"))
    #expect(said("leg/16", "arm") == "index: expected an integer 0…15, got 16")
    #expect(said("leg/a", "arm") == "index: expected an integer 0…15, got a")
    #expect(said("log", "limit=1.5") == "limit: expected an integer, got 1.5")
    #expect(said("queue", "mode=ste", "zones:=[]") == "mode: expected one of set, extend, list (set?), got ste")
    // A form of its own, with members of its own.
    #expect(said("queue", "mode=set") == "queue: expected zones:=LIST, got none")
    #expect(said("queue", "mode=list", "limits:={}") == #"POST /api/queue {"mode":"list","limits":{}}"#)
    #expect(said("queue", "mode=list", "zones:=[]") == "queue: expected mode=list [limits:=OBJECT], got zones with it")
    // The whole body is the daemon's to check.
    #expect(said("robot", "drive", #":={"left":300}"#) == #"POST /api/robot/drive {"left":300}"#)
  }

  @Test("words: a path in any cut, from the root with a slash; values typed as the document says")
  func words() {
    #expect(said("robot", "drive", "left=30", "right=-3.5") == #"POST /api/robot/drive {"left":30,"right":-3.5}"#)
    #expect(
      said("robot/drive", "left=1e1", "timestamp=null", "right=0")
        == #"POST /api/robot/drive {"left":1e1,"timestamp":null,"right":0}"#)
    #expect(said("left=30", "/api/robot/drive/", "right=1") == #"POST /api/robot/drive {"left":30,"right":1}"#)
    #expect(said("leg/0", "arm") == "POST /api/leg/0/arm" && said("leg", "0", "arm") == "POST /api/leg/0/arm")
    #expect(said("/zone/on/1") == "POST /zone/on/1")
    #expect(said("leg", "3", "a b?ü") == "POST /api/leg/3/a%20b%3F%C3%BC")
    #expect(said("e-stop") == "POST /api/e-stop")
  }

  @Test("a name goes before a parameter, as on the server")
  func places() throws {
    #expect(daemon.operations(at: ["api", "leg", "arm"]).map(\.summary) == ["Arm all."])
    #expect(daemon.operations(at: ["api", "leg", "3", "arm"]).map(\.summary) == ["Arm a leg."])
    #expect(daemon.operations(at: ["api", "leg", "3", "x"]).map(\.summary) == ["Other."])
    #expect(daemon.operations(at: ["api", "leg"]).isEmpty)
  }

  @Test("types: numbers, truth values, null and texts by the schema; a text stays one where texts are taken")
  func types() {
    func queue(_ word: String) -> String { said("queue", word, "mode=set", "zones:=[]") }
    func body(_ member: String) -> String { "POST /api/queue {\(member),\"mode\":\"set\",\"zones\":[]}" }
    #expect(queue("name=5") == body(#""name":"5""#) && queue("dry=true") == body(#""dry":true"#))
    #expect(
      said("queue", "name=a=b", "any=5", "any2=1").hasPrefix("queue: expected a value that it has (any?), got any2"))
    #expect(queue("any=5") == body(#""any":5"#) && queue("any=x") == body(#""any":"x""#))
    #expect(queue("id=5") == body(#""id":5"#) && queue("id=a") == body(#""id":"a""#))
    #expect(said("queue", "name=a=b", "name2:=1").contains("got name2"))
    #expect(queue("name=") == body(#""name":"""#))
    #expect(
      said("queue", #"zones:=[{"zoneId": 1}]"#, "mode=set") == #"POST /api/queue {"zones":[{"zoneId":1}],"mode":"set"}"#
    )
    #expect(said("queue", ":=[1, 2]") == "POST /api/queue [1,2]")
  }

  @Test("without values a look, where there is one; with them a command; else as --method says")
  func methods() {
    #expect(said("robot") == "GET /api/robot" && said("queue") == "GET /api/queue")
    #expect(
      said("queue", ":={}", method: "POST") == "POST /api/queue {}"
        && said("queue", method: "DELETE") == "DELETE /api/queue")
    #expect(said("log", "limit=5", "order=a&b") == "GET /api/log?limit=5&order=a%26b")
    // What only the look knows asks; what the command knows, too, commands.
    #expect(said("queue", "limit=5") == "GET /api/queue?limit=5")
    #expect(said("queue", "mode=list", "limits:={}") == #"POST /api/queue {"mode":"list","limits":{}}"#)
    #expect(said("seasonal", "percent=80") == "seasonal: expected --method get or put, got no method")
    #expect(said("seasonal", "percent=80", method: "PUT") == #"PUT /api/seasonal {"percent":80}"#)
    // Not closed: the server decides.
    #expect(said("seasonal", "percnt=80", method: "PUT") == #"PUT /api/seasonal {"percnt":80}"#)
    #expect(said("robot", method: "PUT") == "robot: expected --method get, got put")
  }

  @Test("a wrong name or value: what was expected, and nothing is sent")
  func wrong() {
    #expect(said("robot", "drive", "left=fast") == "left: expected a number -100…100, got fast")
    #expect(said("robot", "drive", "right=") == "right: expected a number -100…100, got ")
    #expect(said("robot", "drive", "lefd=3") == "robot drive: expected a value that it has (left?), got lefd")
    #expect(
      said("robot", "drive", "x=3") == "robot drive: expected a value that it has (left, right, timestamp), got x")
    #expect(said("queue", "dry=yes") == "dry: expected true or false, got yes")
    #expect(said("queue", "zones=1") == "zones: expected a list, got 1: give zones:=JSON")
    #expect(said("queue", "zones:=[") == "zones: expected JSON behind :=, got [")
    #expect(said("queue", ":={", "name=a") == "the body: expected JSON behind :=, got {")
    #expect(said("queue", ":={}", "name=a") == "expected the whole body (:=JSON) or NAME=VALUE, got both")
    #expect(said("queue", "name=a", "name=b") == "expected each value once, got name again")
    #expect(said("queue", "=a") == "expected NAME=VALUE, got =a")
    #expect(said("name=a") == "expected a command before its values")
    #expect(said("leg", "arm", "now=1") == "leg arm: expected no values, got now")
    #expect(said("robot", ":={}") == "robot: expected --method get, got no method")
    #expect(said("log", ":={}") == "log: expected no body, got one")
  }

  @Test("an unknown command: the nearest name, else the five nearest and how to see all")
  func unknown() {
    #expect(said("robot", "driv") == "expected a command that this daemon has (robot drive?), got robot driv")
    #expect(said("seasonl") == "expected a command that this daemon has (seasonal?), got seasonl")
    #expect(said("leg/0/a", "b") == "expected a command that this daemon has (leg 0 arm?), got leg 0 a b")
    #expect(said("robot", "zzzzzz") == "expected a command that this daemon has (drive), got robot zzzzzz")
    #expect(
      said("pump", "on")
        == "expected a command that this daemon has (leg, queue, log, e-stop, robot, …: tactus call lists all), got pump on"
    )
  }

  @Test("the list: commands by system, a line each, with names, types, ranges and units; no looks, no files")
  func listing() {
    #expect(
      CallListing.text(daemon) == """
        daemon
          e-stop  # Stop everything.
        robot
          robot drive left=NUMBER(-100…100 %) right=NUMBER(-100…100) [timestamp=NUMBER(s)]  # Set the wheels' speeds.
        sprinkler
          queue zones:=LIST mode=set|extend [dry=true|false] [name=TEXT] [any=VALUE] [loop=VALUE] [id=INTEGER|TEXT]  # Run zones.
          queue mode=list [limits:=OBJECT]  # Run zones.
          /zone/on/N  # As it was.
        leg
          leg arm  # Arm all.
          leg/INDEX(0…15) arm  # Arm a leg.
          leg/INDEX/WHAT  # Other.
        """)
    let hostile = #"{"openapi":"3","paths":{"/api/x":{"post":{"summary":"a\u001b[2J\u009bb","tags":["y"]}}}}"#
    #expect(
      CallDescription(Array(hostile.utf8)).map(CallListing.text) == #"""
        y
          x  # a\u001b[2J\u009bb
        """#)
  }

  @Test("what is no OpenAPI document: nil", arguments: ["", "{}", "[]", #"{"openapi":"3.1.0"}"#, #"{"paths":{}}"#])
  func noDocument(text: String) {
    #expect(CallDescription(Array(text.utf8)) == nil)
  }

  @Test("the daemon's own document: every command has a line, a request for it is what the server has a route for")
  func ownDocument() throws {
    let written = OpenAPIDocument.written(DaemonProgram.tactus.kinds.compactMap(\.documents))
    let bytes = try JSONSerialization.data(withJSONObject: written, options: .sortedKeys)
    let daemon = try #require(CallDescription(Array(bytes)))
    let lines = CallListing.text(daemon).split(separator: "\n").map(String.init)
    #expect(
      lines.contains(
        "  robot drive left=NUMBER(-100…100 %) right=NUMBER(-100…100 %) [timestamp=NUMBER(s)]  # Each wheel in percent."
      ))
    #expect(
      lines.contains(
        "  robot drive linear=NUMBER(-100…100 m/s) angular=NUMBER(-100…100 rad/s) [timestamp=NUMBER(s)]  # The robot in SI units."
      ))
    #expect(lines.contains("  leg/INDEX(0…31) set pulseUs=INTEGER(500…2500 µs)  # Set a leg's pulse."))
    #expect(
      lines.contains { $0.hasPrefix("  zone/ID(1…64) on [litres=NUMBER(0.1…100000)] [minutes=NUMBER(0.02…1440)]") })
    let posts = daemon.operations.filter { $0.method == "POST" && !$0.takesFile }
    #expect(lines.count(where: { $0.hasPrefix("  ") }) == posts.reduce(0) { $0 + $1.forms.count })
    #expect(lines.contains { $0.hasPrefix("  sim fault fault=nak bus=TEXT address=INTEGER(8…119) [count=") })
    #expect(lines.contains { $0.hasPrefix("  sim fault fault=clear [bus=TEXT]") })
    #expect(lines.contains("  plants file :=LIST  # Add the plants of an original host's file."))
    for operation in daemon.operations where operation.method == "POST" {
      let segments = operation.segments.map { segment in
        operation.pathParameters.first { "{\($0.name)}" == segment }.map { $0.minimum ?? $0.choices.first ?? "a" }
          ?? segment
      }
      let words = try CallWords(["/" + segments.joined(separator: "/"), ":={}"])
      #expect(try CallRequest(words, method: "POST", of: daemon).method == "POST")
    }
  }

  private func answer(_ status: Int, _ body: String, hasToken: Bool = true, isCompact: Bool = false) throws
    -> CallAnswer
  {
    CallAnswer(
      status: status, body: Array(body.utf8), to: "robot drive",
      of: try #require(ServiceAddress("pi.local")), hasToken: hasToken, isCompact: isCompact)
  }

  @Test("answers: JSON indented or in one line, other text as it is; errors with message, code and field")
  func answers() throws {
    let body = #"{"ok":true,"speeds":[1,2],"none":{},"holder":{"name":"a/b"}}"#
    #expect(
      try answer(200, body).output == """
        {
          "ok": true,
          "speeds": [1, 2],
          "none": {},
          "holder": {
            "name": "a/b"
          }
        }
        """)
    #expect(
      try answer(200, body, isCompact: true)
        == {
          var same = try answer(200, body)
          same.output = body
          return same
        }())
    #expect(
      try answer(200, "a,b\n1,2").output == "a,b\n1,2" && answer(204, "").output == nil
        && answer(204, "").complaint == nil)
    let refusal = #"{"ok":false,"code":"VALIDATION","message":"left: expected 1, got 2","field":"left"}"#
    #expect(try answer(422, refusal).complaint == "robot drive: left: expected 1, got 2 (VALIDATION, field left)")
    #expect(try answer(422, refusal).output == nil)
    let conflict = #"{"ok":false,"code":"EMERGENCY_STOPPED","message":"the robot is stopped"}"#
    #expect(try answer(409, conflict).complaint == "robot drive: the robot is stopped (EMERGENCY_STOPPED)")
    let missing = #"{"ok":false,"code":"TOKEN_MISSING","message":"no token"}"#
    #expect(
      try answer(401, missing, hasToken: false).complaint
        == "pi.local:8000 asks for a token: set TACTUS_TOKEN or give --token-file FILE (TOKEN_MISSING: no token)")
    #expect(try answer(401, missing).complaint == "pi.local:8000 does not accept this token (TOKEN_MISSING: no token)")
    #expect(
      try answer(403, missing).complaint == "robot drive: pi.local:8000 does not allow this (TOKEN_MISSING: no token)")
    #expect(try answer(500, "oops").complaint == "robot drive: pi.local:8000 answers with status 500: is it tactus?")
  }

  @Test("after an emergency stop: the systems with an output that has not confirmed its off; nil: that is not told")
  func unconfirmed() throws {
    func systems(_ status: String, of path: String = "api/e-stop") throws -> [String]? {
      UnconfirmedOutputs.systems(
        in: try #require(JSONValue(json: Array(status.utf8))), of: path.split(separator: "/").map(String.init))
    }
    let status = #"""
      {"ok":true,"systems":{"cart":{"stopConfirmed":true},"leg":{"legs":[{"offConfirmed":true},{"offConfirmed":false}]},
       "pump":{"offConfirmed":false},"plants":{"state":"ok"},"kettle/left":{"offConfirmed":false},"kettle/right":{"offConfirmed":true}}}
      """#
    #expect(try systems(status) == ["leg", "pump", "kettle/left"])
    #expect(try systems(status, of: "api/pump/e-stop") == ["pump"])
    #expect(try systems(status, of: "api/leg/1/e-stop") == ["leg"])
    #expect(try systems(status, of: "api/cart/e-stop") == [])
    #expect(try systems(status, of: "api/kettle/left/e-stop") == ["kettle/left"])
    #expect(try systems(status, of: "api/kettle/right/e-stop") == [])
    #expect(try systems(status, of: "api/oven/e-stop") == nil)
    #expect(try systems(#"{"ok":true}"#) == nil && systems("[]") == nil && systems(#"{"systems":{}}"#) == [])
  }

  @Test(
    "an emergency stop that was taken, and then the state is not told: not confirmed, with the reason, status 1",
    arguments: [
      (nil, "status: 127.0.0.1:PORT answers with status 404: is it tactus?"),
      (CannedServer.Answer(status: 401, body: #"{"code":"TOKEN_MISSING","message":"no token"}"#), "asks for a token"),
      (CannedServer.Answer(body: "hello"), "127.0.0.1:PORT does not tell the state of what was stopped"),
      (CannedServer.Answer(body: #"{"ok":true}"#), "127.0.0.1:PORT does not tell the state of what was stopped"),
    ] as [(CannedServer.Answer?, String)])
  func stateNotTold(answer: CannedServer.Answer?, reason: String) throws {
    let server = try CannedServer(["/api/e-stop": .init(body: #"{"ok":true,"systems":["pump"]}"#)])
    defer { server.stop() }
    if let answer { server.set("/api/status", answer) }
    let process = try TactusProcess(["call", "--port", "\(server.port)", "--json", "e-stop"])
    #expect(process.finish() == 1, "\(process.said)")
    let said = process.said
    let beginning = "E-STOP is NOT CONFIRMED: it was taken, but whether every output is off is not known: "
    #expect(said.contains(beginning), "\(said)")
    #expect(said.contains(reason.replacing("PORT", with: "\(server.port)")), "\(said)")
    #expect(said.contains("power switch"), "\(said)")
  }

  @Test("an emergency stop with options that there are not: without them; any other line as it is")
  func unknownOptions() {
    func line(_ words: String...) -> [String] { CallCommand.stopWithoutUnknownOptions(["call"] + words) }
    #expect(line("e-stop", "--reason", "fire") == ["call", "e-stop", "fire"])
    #expect(line("--port", "81", "robot", "E-STOP", "-f", "--now=1") == ["call", "--port", "81", "robot", "E-STOP"])
    for same in [["e-stop", "--help"], ["e-stop", "-h", "--now"], ["e-stop", "--port", "x"], ["robot", "--now"]] {
      #expect(CallCommand.stopWithoutUnknownOptions(["call"] + same) == ["call"] + same)
    }
    #expect(line("e-stop", "--method", "get", "-x") == ["call", "e-stop", "--method", "get", "-x"])
    #expect(line("e-stop", "--json") == ["call", "e-stop", "--json"])
    #expect(CallCommand.stopWithoutUnknownOptions(["top", "-x"]) == ["top", "-x"])
  }

  @Test("an emergency stop that was taken and confirmed by the state: status 0, and nothing is said of it")
  func stateTold() throws {
    let server = try CannedServer([
      "/api/e-stop": .init(body: #"{"ok":true,"systems":["pump"]}"#),
      "/api/status": .init(body: #"{"ok":true,"systems":{"pump":{"offConfirmed":true}}}"#),
    ])
    defer { server.stop() }
    let process = try TactusProcess(["call", "--port", "\(server.port)", "--json", "e-stop"])
    #expect(process.finish() == 0, "\(process.said)")
    #expect(!process.said.contains("CONFIRMED:"), "\(process.said)")
  }

  @Test("a stop without an answer: not confirmed, with the way out; another command may still be done later")
  func withoutAnswer() throws {
    let address = try #require(ServiceAddress("pi.local"))
    #expect(
      CallAnswer(.timedOut, of: address, isCommand: true).complaint
        == "pi.local:8000: no answer in time: whether it was done is not known, and it may still be done later")
    let look = try #require(CallAnswer(.timedOut, of: address, isCommand: false).complaint)
    #expect(look.hasPrefix("pi.local:8000: no answer: ") && look.contains("systemctl restart tactus"), "\(look)")
    #expect(
      CallAnswer.unconfirmedStop("a reason")
        == "E-STOP is NOT CONFIRMED: a reason. What still moves can only be stopped by its power switch.")
  }

  @Test("an emergency stop: sent without the document, whatever words and values are with it")
  func emergencyStop() throws {
    for words in [["e-stop"], ["robot", "e-stop"], ["/api/leg/e-stop"]] {
      let words = try CallWords(words)
      #expect(words.isEmergencyStop)
      #expect(CallRequest(emergencyStop: words).target.hasSuffix("/e-stop"))
    }
    for words in [["estop"], ["E-STOP"], ["e_stop"], ["e stop"], ["e", "Stop"], ["Emergency-Stop"]] {
      #expect(
        try CallRequest(emergencyStop: CallWords(words)).target == "/api/e-stop" && CallWords(words).isEmergencyStop)
    }
    #expect(try CallRequest(emergencyStop: CallWords(["Robot", "EStop"])).target == "/api/robot/e-stop")
    for words in [["e-stop", "robot"], ["estop", "now"], ["e stop", "all"], ["e", "stop", "leg"], ["E-STOP/robot"]] {
      #expect(
        try CallRequest(emergencyStop: CallWords(words)).target == "/api/e-stop" && CallWords(words).isEmergencyStop)
    }
    for words in [["e-stop", "reason=x"], ["e-stop", "=a"], ["x=1", "E-Stop", "x=2"], ["estop", ":={", "a:=b"]] {
      let stop = try CallWords(words)
      #expect(stop.isEmergencyStop && CallRequest(emergencyStop: stop).target == "/api/e-stop")
      #expect(stop.unused == words.filter { $0.contains("=") })
    }
    let one = try CallWords(["Robot", "e stop", "reason=fire"])
    #expect(try CallRequest(emergencyStop: one) == CallRequest(emergencyStop: CallWords(["robot", "e-stop"])))
    #expect(one.unused == ["reason=fire"])
    for words in [["robot", "e-stop", "now"], ["e-stop", "robot"], ["robot", "e", "stop", "leg", "x=1"]] {
      let stop = try CallWords(words)
      #expect(CallRequest(emergencyStop: stop).target == "/api/e-stop" && stop.isEmergencyStop)
    }
    #expect(try CallWords(["robot", "e", "stop", "leg", "x=1"]).unused == ["leg", "x=1"])
    #expect(try CallWords(["robot", "e-stop"]).unused == [])
    for words in [["robot", "stop"], ["/e-stop"], []] { #expect(try !CallWords(words).isEmergencyStop) }
    for words in [["reset"], ["robot", "reset"]] { #expect(try CallWords(words).isReset) }
    for words in [["e-stop"], ["reset", "x=1"], ["/reset"], []] { #expect(try !CallWords(words).isReset) }
  }
}
