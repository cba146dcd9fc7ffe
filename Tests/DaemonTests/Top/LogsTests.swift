import DaemonSupport
import Foundation
import TestSupport
import Testing

@testable import TactusDaemon

/// `tactus logs` as a child, against a server with prepared answers.
@Suite("logs, the program", .serialized, .ownThread)
struct LogsTests {
  private static let page = """
    {"ok":true,"next":9,"dropped":0,"lines":[{"seq":7,"ts":"2026-11-27T20:30:54.123456Z","level":"warning","label":"tactus",\
    "message":"a \\u001b[2J line","system":"fan","count":3},{"seq":8,"ts":"2026-11-27T20:30:55.000000Z","level":"info","label":"guard","message":"next"}]}
    """

  private func logs(_ answer: CannedServer.Answer, _ arguments: [String]) throws -> (TactusProcess, [String]) {
    let server = try CannedServer(["/api/logs": answer])
    defer { server.stop() }
    let process = try TactusProcess(["logs", "127.0.0.1", "--port", "\(server.port)"] + arguments)
    _ = process.finish()
    return (process, server.requests)
  }

  @Test("lines as on standard error, without control characters; filters go to the daemon; --json: an object a line")
  func lines() throws {
    let (shown, requests) = try logs(.init(body: Self.page), ["-n", "7", "--level", "info", "--system", "fan"])
    #expect(shown.process.terminationStatus == 0)
    #expect(
      shown.said == """
        20:30:54.123 WARNING  tactus: a \\u001b[2J line count=3 system=fan
        20:30:55.000 INFO     guard: next

        """)
    #expect(requests.first?.hasPrefix("GET /api/logs?limit=7&level=info&system=fan HTTP/1.1") == true)
    let (json, _) = try logs(.init(body: Self.page), ["--json"])
    let objects = try json.said.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(objects.map { $0["seq"] as? Int } == [7, 8])
  }

  @Test("-f goes on from the line after the last one")
  func following() throws {
    let server = try CannedServer(["/api/logs": .init(body: Self.page)])
    defer { server.stop() }
    let process = try TactusProcess(["logs", "127.0.0.1", "--port", "\(server.port)", "-f"])
    #expect(process.waitFor("guard: next", times: 2))
    kill(process.identifier, SIGKILL)
    _ = process.finish()
    #expect(server.requests.dropFirst().first?.hasPrefix("GET /api/logs?limit=1000&since=9 HTTP/1.1") == true)
  }

  @Test("a refusal, another program, a level or number that there is not: why, and a status")
  func refused() throws {
    let (process, _) = try logs(
      .init(status: 401, body: #"{"ok":false,"code":"TOKEN_MISSING","message":"a token is needed"}"#), [])
    #expect(process.process.terminationStatus == 1)
    #expect(process.said.contains("a token is needed: give --token-file FILE or set TACTUS_TOKEN"))
    let (other, _) = try logs(.init(body: "hello"), [])
    #expect(other.process.terminationStatus == 1 && other.said.contains("is not tactus"))
    for words in [["--level", "loud"], ["-n", "0"], ["-n", "1001"], ["--system", "a&b"]] {
      #expect(try TactusProcess(["logs"] + words).finish() == 64, "\(words)")
    }
  }
}
