import DaemonSupport
import Foundation
import TestSupport
import Testing

@testable import TactusDaemon

/// `tactus status` as a child, against a server with prepared answers.
@Suite("status, the program", .serialized, .ownThread)
struct StatusTests {
  private static let well =
    #"{"ok":true,"status":"ok","version":"1.2.3","systems":{"robot":"stopped"},"guard":{"state":"watching","replacements":0,"madeSafe":0}}"#
  private static let ill =
    #"{"ok":false,"status":"GUARD_LOST","message":"no guard watches","version":"1.2.3","systems":{"robot":"stopped"},"guard":{"state":"lost","replacements":2,"madeSafe":1}}"#

  private func status(
    _ answers: [String: CannedServer.Answer], _ arguments: [String] = [], environment: [String: String] = [:]
  ) throws -> TactusProcess {
    let server = try CannedServer(answers)
    defer { server.stop() }
    let process = try TactusProcess(
      ["status", "127.0.0.1", "--port", "\(server.port)"] + arguments, environment: environment)
    _ = process.finish()
    return process
  }

  @Test("well: version, time, each system, guard and loops, status 0; as JSON, the daemon's own answers")
  func well() throws {
    let answers: [String: CannedServer.Answer] = [
      "/api/health": .init(body: Self.well), "/api/status": .init(body: TopDocuments.stopped),
      "/api/runtime": .init(body: TopDocuments.second),
    ]
    let shown = try status(answers)
    #expect(shown.process.terminationStatus == 0)
    let lines = shown.said.split(separator: "\n")
    #expect(
      lines.first?.hasPrefix("tactus 1.2.3 at 127.0.0.1:") == true
        && lines.first?.hasSuffix(", up 2 h 13 min: ok") == true)
    #expect(lines.contains("robot  stopped: commanded") && lines.contains("guard  watching"), "\(shown.said)")
    #expect(lines.last?.hasPrefix("loops  ") == true, "\(shown.said)")
    let json = try status(answers, ["--json"]).said
    let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: [String: Any]])
    #expect(object["health"]?["status"] as? String == "ok" && object["runtime"]?["loops"] != nil)
  }

  @Test("not well: why, in the first line, status 1; what needs a token is left out, and said so")
  func ill() throws {
    let shown = try status([
      "/api/health": .init(status: 503, body: Self.ill), "/api/status": .init(status: 401, body: "{}"),
      "/api/runtime": .init(status: 401, body: "{}"),
    ])
    #expect(shown.process.terminationStatus == 1)
    let lines = shown.said.split(separator: "\n")
    #expect(lines.first?.hasSuffix(": GUARD_LOST: no guard watches") == true, "\(shown.said)")
    #expect(lines.contains("guard  lost, replaced 2 times, has made outputs safe 1 times"), "\(shown.said)")
    #expect(lines.contains("robot  stopped") && shown.said.contains("--token-file FILE"))
  }

  @Test("a system in fault: which, in the first line; status 1, as JSON too")
  func fault() throws {
    func answers(_ state: String, _ status: String) -> [String: CannedServer.Answer] {
      let health = #"{"ok":true,"status":"ok","version":"1.2.3","systems":{"robot":"\#(state)","fan":"off"}}"#
      return [
        "/api/health": .init(body: health), "/api/status": .init(body: status),
        "/api/runtime": .init(body: TopDocuments.second),
      ]
    }
    let shown = try status(answers("fault", TopDocuments.fault))
    #expect(shown.process.terminationStatus == 1)
    let lines = shown.said.split(separator: "\n")
    #expect(lines.first?.hasSuffix(": in fault: robot") == true, "\(shown.said)")
    #expect(lines.contains("robot  FAULT: fault: the bus is stuck"), "\(shown.said)")
    let json = try status(answers("fault", TopDocuments.fault), ["--json"])
    #expect(json.process.terminationStatus == 1)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(json.said.utf8)) as? [String: [String: Any]])
    #expect(
      (object["health"]?["systems"] as? [String: String])?["robot"] == "fault" && object["status"]?["systems"] != nil)
  }

  @Test("an emergency stop: which systems hold it, in the first line; status 1; also where only the states may be read")
  func emergencyStop() throws {
    let health =
      #"{"ok":true,"status":"ok","version":"1.2.3","systems":{"robot":"emergencyStopped","fan":"off"}}"#
    let refused = CannedServer.Answer(status: 401, body: "{}")
    for status in [CannedServer.Answer(body: TopDocuments.emergency), refused] {
      let shown = try self.status([
        "/api/health": .init(body: health), "/api/status": status, "/api/runtime": refused,
      ])
      #expect(shown.process.terminationStatus == 1)
      let first = shown.said.split(separator: "\n").first
      #expect(first?.hasSuffix(": EMERGENCY STOP, until a reset: robot") == true, "\(shown.said)")
      #expect(!shown.said.contains("emergencyStopped"), "\(shown.said)")
    }
  }

  @Test(
    "what a person has to do something about: in the first line, status 1",
    arguments: [
      (#"{"state":"unknown","contact":"down"}"#, "fan: no contact (down)"),
      (#"{"state":"off","offConfirmed":false}"#, "fan: the off of an output is not confirmed"),
      (
        #"{"state":"emergencyStopped","offConfirmed":false}"#,
        "EMERGENCY STOP, until a reset: fan; fan: the off of an output is not confirmed"
      ),
      (#"{"state":"armed","legs":[{"name":"a","state":"fault","fault":"silence"}]}"#, "in fault: fan"),
      (#"{"state":"ok","plants":[{"name":"Fern","alerts":["dry"]}]}"#, "fan: Fern: dry"),
      (#"{"state":"ok","alerts":["a","b","c","d","e"]}"#, "fan: a, b, c, and 2 more"),
      (#"{"state":"motorStalled"}"#, "fan: motor stalled"),
    ])
  func troubles(state: String, words: String) throws {
    let shown = try status([
      "/api/health": .init(body: Self.well),
      "/api/status": .init(body: #"{"ok":true,"version":"1.2.3","systems":{"fan":\#(state)}}"#),
      "/api/runtime": .init(body: TopDocuments.second),
    ])
    #expect(shown.process.terminationStatus == 1)
    #expect(shown.said.split(separator: "\n").first?.hasSuffix(": \(words)") == true, "\(shown.said)")
  }

  @Test(
    "the line of a system whose parts are stopped or in fault: the first one's name, why, the way out, and how many more",
    arguments: [
      (
        #"""
        {"state":"fault","legs":[{"name":"front","state":"disarmed","reason":"disarmed","wayOut":"arm it"},
        {"name":"left","state":"fault","reason":"fault: the link is lost","fault":"the link is lost",
        "wayOut":"remove the cause, then disarm and arm it"},{"name":"right","state":"fault"}]}
        """#,
        "FAULT: left: fault: the link is lost; remove the cause, then disarm and arm it; and 1 more"
      ),
      (
        #"""
        {"state":"emergencyStopped","legs":[{"name":"left","state":"fault","reason":"fault: empty"},
        {"name":"right","state":"emergencyStopped","reason":"emergency stop","wayOut":"reset, then arm it"}]}
        """#,
        "EMERGENCY STOP: right: emergency stop; reset, then arm it; and 1 more"
      ),
      (#"{"state":"armed","legs":[{"index":2,"state":"fault","fault":"silence"}]}"#, "FAULT: 2: fault: silence"),
      (
        #"{"state":"fault","reason":"fault: dry","wayOut":"fill it","pumps":[{"name":"a","state":"fault"}]}"#,
        "FAULT: fault: dry; fill it"
      ),
      (#"{"state":"emergencyStopped","offConfirmed":true}"#, "EMERGENCY STOP: emergency stopped"),
      (#"{"state":"motorStalled"}"#, "motor stalled"),
    ])
  func parts(state: String, words: String) throws {
    let shown = try status([
      "/api/health": .init(body: Self.well),
      "/api/status": .init(body: #"{"ok":true,"version":"1.2.3","systems":{"leg":\#(state)}}"#),
      "/api/runtime": .init(body: TopDocuments.second),
    ])
    #expect(shown.said.contains("\nleg    \(words)\n"), "\(shown.said)")
  }

  @Test("a warning of health, which is ok: in the first line, status 1; also where only health may be read")
  func warning() throws {
    let words = "no connection to the MQTT broker b:1883: refused"
    let warnings = #""warnings":[{"code":"BROKER_GONE","message":"\#(words)"}],"systems""#
    let health = Self.well.replacing(#""systems""#, with: warnings)
    let refused = CannedServer.Answer(status: 401, body: "{}")
    for state in [CannedServer.Answer(body: TopDocuments.stopped), refused] {
      let gone = try status(["/api/health": .init(body: health), "/api/status": state, "/api/runtime": refused])
      #expect(gone.process.terminationStatus == 1)
      #expect(gone.said.split(separator: "\n").first?.hasSuffix(": \(words)") == true, "\(gone.said)")
    }
  }

  @Test("a token that is not valid: the daemon's words, which say how one is made, status 1")
  func invalidToken() throws {
    let words = "the token is not valid here; on the daemon's machine `tactus token create` makes one"
    let shown = try status(
      ["/api/health": .init(status: 401, body: #"{"ok":false,"code":"TOKEN_INVALID","message":"\#(words)"}"#)],
      environment: ["TACTUS_TOKEN": "wrong"])
    #expect(shown.process.terminationStatus == 1)
    #expect(shown.said.hasSuffix(": \(words)\n") && !shown.said.contains("TACTUS_TOKEN"), "\(shown.said)")
  }

  @Test("no daemon, or another program: one line why, status 1")
  func absent() throws {
    let other = try status(["/api/health": .init(body: "hello")])
    #expect(other.process.terminationStatus == 1 && other.said.contains("is not tactus"), "\(other.said)")
    let port = ReservedPort()
    defer { withExtendedLifetime(port) {} }
    let none = try TactusProcess(["status", "127.0.0.1", "--port", "\(port.number)"])
    #expect(none.finish() == 1 && none.said.split(separator: "\n").count == 1, "\(none.said)")
  }
}
