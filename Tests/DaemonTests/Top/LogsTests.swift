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

  private func logs(
    _ answer: CannedServer.Answer, _ arguments: [String], health: String? = nil
  ) throws -> (TactusProcess, [String]) {
    let server = try CannedServer(["/api/logs": answer, "/api/health": .init(body: health ?? "{}")])
    defer { server.stop() }
    // A zone that needs no file of the machine's: an hour before UTC.
    let process = try TactusProcess(
      ["logs", "127.0.0.1", "--port", "\(server.port)"] + arguments, environment: ["TZ": "CET-1"])
    _ = process.finish()
    return (process, server.requests)
  }

  @Test(
    "lines as on standard error, in local time with its zone, without control characters; filters go to the daemon; --json: an object a line"
  )
  func lines() throws {
    let (shown, requests) = try logs(.init(body: Self.page), ["-n", "7", "--level", "info", "--system", "fan"])
    #expect(shown.process.terminationStatus == 0)
    #expect(
      shown.said == """
        21:30:54.123 CET WARNING  tactus: a \\u001b[2J line count=3 system=fan
        21:30:55.000 CET INFO     guard: next

        """)
    #expect(requests.first?.hasPrefix("GET /api/logs?limit=7&level=info&system=fan HTTP/1.1") == true)
    let (json, _) = try logs(.init(body: Self.page), ["--json"])
    let objects = try json.said.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(objects.map { $0["seq"] as? Int } == [7, 8])
  }

  @Test("the options of other tools: -n3, --tail, -p, a level in any case, warn and err")
  func habits() throws {
    for (words, query) in [
      (["-n3"], "limit=3"), (["--tail", "20"], "limit=20"), (["-p", "warn"], "limit=50&level=warning"),
      (["--level", "ERR"], "limit=50&level=error"), (["--level", "Warning"], "limit=50&level=warning"),
      (["--since", "10m"], "limit=1000"),
    ] {
      let (process, requests) = try logs(.init(body: Self.page), words)
      #expect(process.process.terminationStatus == 0, "\(words): \(process.said)")
      #expect(requests.first?.hasPrefix("GET /api/logs?\(query) HTTP/1.1") == true, "\(words): \(requests)")
    }
  }

  @Test("--since: only lines of that time until now")
  func since() throws {
    let page = """
      {"ok":true,"next":9,"dropped":0,"lines":[{"seq":7,"ts":"2001-11-27T20:30:54.123456Z","level":"info","label":"a","msg":"old"},\
      {"seq":8,"ts":"2201-11-27T20:30:55.000000Z","level":"info","label":"a","msg":"young"}]}
      """
    let (shown, _) = try logs(.init(body: page), ["--since", "10m"])
    #expect(shown.said == "21:30:55.000 CET INFO     a: young\n")
  }

  @Test("a system that there is not: which there are, and status 64; one that is silent: nothing, and status 0")
  func systems() throws {
    let empty = CannedServer.Answer(body: #"{"ok":true,"next":9,"dropped":0,"lines":[]}"#)
    let health = #"{"ok":true,"systems":{"fan":"off","lamp":"off"}}"#
    let (wrong, _) = try logs(empty, ["--system", "fna"], health: health)
    #expect(wrong.process.terminationStatus == 64)
    #expect(wrong.said == "expected a system, one of fan, lamp (fan?), got fna\n")
    let (silent, _) = try logs(empty, ["--system", "fan"], health: health)
    #expect(silent.process.terminationStatus == 0 && silent.said.isEmpty, "\(silent.said)")
  }

  @Test("a system in the place of a host: what to type; nobody there: what is expected")
  func places() throws {
    let system = try TactusProcess(["logs", "robot", "--port", "9"])
    #expect(system.finish() == 1)
    // Some machine may be called so.
    #expect(
      system.said.hasPrefix(
        "robot is a system, not a host: tactus call robot tells its state, tactus logs --system robot")
        || system.said.hasPrefix("robot:9: "), "\(system.said)")
    let port = ReservedPort()
    defer { withExtendedLifetime(port) {} }
    for command in ["logs", "status", "reload"] {
      let nobody = try TactusProcess([command, "127.0.0.1", "--port", "\(port.number)"])
      #expect(nobody.finish() == 1)
      #expect(
        nobody.said.hasSuffix(
          "Connection refused: expected a running daemon there; start one with tactus run --config FILE, or say "
            + "where it is with HOST and --port PORT\n"), "\(command): \(nobody.said)")
    }
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
