import BusesLinux
import DaemonSupport
import Foundation
import TestSupport
import Testing

@testable import TactusDaemon

/// `tactus top` as a child, against a server with prepared answers.
@Suite("top, the program", .serialized, .ownThread)
struct TopProcessTests {
  private let server: CannedServer

  init() throws {
    server = try CannedServer([
      "/api/runtime": .init(body: TopDocuments.second), "/api/status": .init(body: TopDocuments.stopped),
    ])
  }

  private func top(_ arguments: [String], environment: [String: String] = [:]) throws -> TactusProcess {
    try TactusProcess(["top", "127.0.0.1", "--port", "\(server.port)"] + arguments, environment: environment)
  }

  @Test("--once: one table without colour, status 0; the token from the environment in its header and nowhere else")
  func once() throws {
    let top = try top(["--once"], environment: ["TACTUS_TOKEN": "secret-1"])
    #expect(top.finish() == 0)
    #expect(top.said.hasPrefix("tactus 1.2.3 at 127.0.0.1:\(server.port)   up 2 h 13 min\nrobot: stopped: commanded\n"))
    #expect(top.said.contains("robot.motors") && !top.said.contains("\u{1B}"))
    let requests = server.requests
    #expect(
      requests.map { $0.prefix { $0 != "\r\n" } } == [
        "GET /api/runtime?histograms=1 HTTP/1.1", "GET /api/status HTTP/1.1",
      ])
    #expect(requests.allSatisfy { $0.contains("\r\nAuthorization: Bearer secret-1\r\n") })
    #expect(requests.allSatisfy { $0.contains("\r\nHost: 127.0.0.1:\(server.port)\r\n") })
    server.stop()
  }

  @Test("a token file: its token without the line feed; goes before the environment")
  func tokenFile() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("secret-2\n", to: "token")
    #expect(try top(["--once", "--token-file", file], environment: ["TACTUS_TOKEN": "secret-1"]).finish() == 0)
    #expect(server.requests.allSatisfy { $0.contains("\r\nAuthorization: Bearer secret-2\r\n") })
    server.stop()
  }

  @Test("401: what to do, status 1; the token is not repeated")
  func unauthorized() throws {
    server.set("/api/runtime", .init(status: 401, body: #"{"ok":false,"code":"TOKEN_MISSING","message":"no token"}"#))
    let without = try top(["--once"], environment: ["TACTUS_TOKEN": ""])
    #expect(without.finish() == 1)
    #expect(without.said.contains("asks for a token: give --token-file FILE or set TACTUS_TOKEN"), "\(without.said)")
    server.set("/api/runtime", .init(status: 401, body: #"{"ok":false,"code":"TOKEN_EXPIRED","message":"expired"}"#))
    let with = try top(["--once"], environment: ["TACTUS_TOKEN": "secret-1"])
    #expect(with.finish() == 1)
    #expect(with.said.contains("does not accept this token (TOKEN_EXPIRED: expired)"), "\(with.said)")
    #expect(!with.said.contains("secret-1"))
    server.stop()
  }

  @Test("--once and nobody there: status 1, in plain words")
  func nobody() throws {
    server.stop()
    let top = try top(["--once"])
    #expect(top.finish() == 1)
    #expect(top.said.contains("127.0.0.1:\(server.port): Connection re"), "\(top.said)")
  }

  @Test("no terminal and no --once: status 64; a host that is none: status 64")
  func usage() throws {
    #expect(try top([]).finish() == 64)
    #expect(try TactusProcess(["top", "http://pi/path", "--once"]).finish() == 64)
    #expect(try TactusProcess(["top", "pi", "--fingerprint", "AA", "--once"]).finish() == 64)
    server.stop()
  }

  @Test("a terminal: the loops; the daemon goes and comes back; q: everything as before")
  func terminal() throws {
    let terminal = try Terminal()
    let top = try TactusProcess(
      ["top", "127.0.0.1:\(server.port)", "--interval", "100ms"],
      terminal: FileHandle(fileDescriptor: terminal.near, closeOnDealloc: false))
    #expect(terminal.see("robot.motors"))
    #expect(try terminal.changes != [])
    server.stop()
    #expect(terminal.see("waiting for 127.0.0.1:\(server.port): Connection re"))
    let again = try CannedServer(
      ["/api/runtime": .init(body: TopDocuments.first), "/api/status": .init(body: TopDocuments.emergency)],
      port: server.reserved)
    #expect(terminal.see("EMERGENCY STOP"))
    terminal.type("q")
    #expect(terminal.see("\u{1B}[?25h\u{1B}[?1049l"))
    #expect(top.finish() == 0)
    #expect(try terminal.changes == [])
    again.stop()
  }

  @Test("SIGTERM, SIGINT, SIGHUP: the terminal is as before", arguments: [SIGTERM, SIGINT, SIGHUP])
  func signals(signal: Int32) throws {
    let terminal = try Terminal()
    let top = try TactusProcess(
      ["top", "127.0.0.1:\(server.port)"], terminal: FileHandle(fileDescriptor: terminal.near, closeOnDealloc: false))
    #expect(terminal.see("robot.motors"))
    kill(top.identifier, signal)
    #expect(terminal.see("\u{1B}[?25h\u{1B}[?1049l"))
    #expect(top.finish() == 0)
    #expect(try terminal.changes == [])
    server.stop()
  }
}

/// A pseudo-terminal with a child on it.
private final class Terminal {
  private let pair: LinuxPTY
  let near: Int32
  private let before: termios
  private var seen = ""

  init() throws {
    pair = try LinuxPTY()
    near = open(pair.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    var settings = try terminalSettings(near)
    settings.c_lflag |= tcflag_t(ICANON | ECHO | ISIG)
    try #require(tcsetattr(near, TCSANOW, &settings) == 0)
    before = settings
  }

  deinit { close(near) }

  func type(_ keys: String) { _ = write(pair.descriptor, keys, keys.utf8.count) }

  /// Reads the screen until it shows `text`; what comes after is for the next call.
  func see(_ text: String) -> Bool {
    while true {
      if let range = seen.range(of: text) {
        seen = String(seen[range.upperBound...])
        return true
      }
      guard let bytes = readWhenReady(pair.descriptor), !bytes.isEmpty else { return false }
      seen += String(decoding: bytes, as: UTF8.self)
    }
  }

  /// In which settings it is not as before the child.
  var changes: [String] { get throws { try terminalSettings(near).changes(since: before) } }
}
