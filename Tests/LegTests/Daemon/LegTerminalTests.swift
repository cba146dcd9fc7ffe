import BusesLinux
import DaemonSupport
import Foundation
import Testing

@testable import TactusDaemon

/// `tactus leg` against a device written in Python from the protocol's text alone.
@Suite("leg in a terminal and in a script", .serialized, .enabled(if: LegDevice.python != nil, "no python3 here"))
struct LegTerminalTests {
  private func leg(_ arguments: [String]) throws -> (status: Int32?, said: String) {
    let leg = try TactusProcess(["leg"] + arguments)
    let status = leg.finish()
    return (status, leg.said)
  }

  @Test("script by UDP: arms, holds, disarms; status 0, and the device saw exactly that")
  func script() throws {
    let device = try LegDevice("udp")
    let run = try leg(["127.0.0.1:\(device.address)", "--arm", "--set", "1800", "--for", "300ms"])
    #expect(run.status == 0 && run.said.contains("obeyed"))
    #expect(device.end() == ["armed", "pulse 1800", "disarmed"])
  }

  @Test("script by a serial line, noise before every telemetry frame: as by UDP")
  func serial() throws {
    let device = try LegDevice("serial")
    let run = try leg(["serial:\(device.address)", "--arm", "--sweep", "1000:1000:1s", "--for", "300ms"])
    #expect(run.status == 0)
    #expect(run.said.contains("bytes discarded"))
    #expect(device.end() == ["armed", "pulse 1000", "disarmed"])
  }

  @Test("disarmed and no --arm, no device, bad usage: status 1, 1 and 64, the reason said, nothing moved")
  func failures() throws {
    let device = try LegDevice("udp")
    let unarmed = try leg(["127.0.0.1:\(device.address)", "--set", "1500", "--for", "1s"])
    #expect(unarmed.status == 1 && unarmed.said.contains("give --arm"))
    #expect(device.end() == [])
    let gone = try leg(["serial:/dev/ttyNothing9", "--disarm"])
    #expect(gone.status == 1 && gone.said.contains("ttyNothing9"))
    for arguments in [["--arm"], ["--set", "1500"], ["--set", "400", "--for", "1s"], ["--index", "16"], []] {
      #expect(try leg(["127.0.0.1"] + arguments).status == 64)
    }
  }

  @Test("script interrupted: the leg is disarmed, status 1")
  func interrupted() throws {
    let device = try LegDevice("udp")
    let leg = try TactusProcess(["leg", "127.0.0.1:\(device.address)", "--arm", "--for", "10m"])
    #expect(leg.waitFor("leg armed"))
    kill(leg.identifier, SIGINT)
    #expect(leg.finish() == 1)
    #expect(device.end() == ["armed", "disarmed"])
  }

  @Test("terminal: armed, the slider where it stands is sent by its own key and by enter")
  func sendsWhereItStands() throws {
    let device = try LegDevice("udp")
    let terminal = try Terminal()
    let leg = try terminal.start(["leg", "127.0.0.1:\(device.address)"])
    #expect(terminal.see("state     disarmed"))
    terminal.type("a")
    #expect(terminal.see("ARMED"))
    terminal.type("c")
    #expect(device.process.waitFor("pulse 1500"))
    terminal.type(" ")
    #expect(terminal.see("state     disarmed"))
    terminal.type("a")
    #expect(terminal.see("ARMED"))
    terminal.type("\r")
    #expect(terminal.see("pulse 1500 µs"))
    terminal.type("q")
    #expect(leg.finish() == 0)
    #expect(device.end() == ["armed", "pulse 1500", "disarmed", "armed", "pulse 1500", "disarmed"])
  }

  @Test("terminal: arm, keepalive, slider, disarm, quit; shown as they happen; the terminal is as before")
  func keys() throws {
    let device = try LegDevice("udp")
    let terminal = try Terminal()
    let leg = try terminal.start(["leg", "127.0.0.1:\(device.address)"])
    #expect(terminal.see("disarmed"))
    #expect(try terminal.changes != [])
    terminal.type("a")
    #expect(terminal.see("ARMED"))
    terminal.type("k\u{1B}[A")
    #expect(terminal.see("keepalive ON") && device.process.waitFor("pulse 1600"))
    terminal.type(" ")
    #expect(terminal.see("state     disarmed"))
    terminal.type("q")
    #expect(leg.finish() == 0)
    let changes = try terminal.changes
    #expect(changes == [])
    let seen = device.end()
    #expect(seen.first == "armed" && seen.contains("pulse 1600") && seen.last == "disarmed")
  }

  @Test(
    "SIGTERM, SIGINT, SIGHUP while armed: disarmed, and the terminal is as before",
    arguments: [SIGTERM, SIGINT, SIGHUP])
  func signals(signal: Int32) throws {
    let device = try LegDevice("udp")
    let terminal = try Terminal()
    let leg = try terminal.start(["leg", "127.0.0.1:\(device.address)"])
    #expect(terminal.see("state     disarmed"))
    terminal.type("a")
    #expect(terminal.see("ARMED"))
    kill(leg.identifier, signal)
    #expect(leg.finish() == 0)
    let changes = try terminal.changes
    #expect(changes == [])
    #expect(device.end() == ["armed", "disarmed"])
  }
}

/// A running device.
private final class LegDevice {
  static let python: String? = ["/usr/bin/python3", "/usr/local/bin/python3"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }
  private static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "peers/leg_device.py").path

  let process: TactusProcess
  /// Its port, or the path of its line.
  let address: String
  private let input = Pipe()

  /// No test lets its deadman expire, and a loaded machine is not to: it has a minute.
  init(_ link: String) throws {
    process = try TactusProcess(
      executable: URL(filePath: Self.python!), [Self.script, link, "60"], standardInput: input.fileHandleForReading)
    try #require(process.waitFor("\n"))
    address = try #require(process.said.firstMatch(of: /listening (\S+)\n/).map { String($0.output.1) })
  }

  /// Ends it; the lines it has said.
  func end() -> [String] {
    try? input.fileHandleForWriting.close()
    #expect(process.finish() == 0)
    return process.said.split(separator: "\n").dropFirst().map(String.init)
  }
}

/// A pseudo-terminal, cooked, for a program to run in.
private final class Terminal {
  private let terminal: LinuxPTY
  private let near: Int32
  private let before: termios
  private var seen = ""

  init() throws {
    terminal = try LinuxPTY()
    near = open(terminal.path, O_RDWR | O_NOCTTY)
    var size = winsize(ws_row: 24, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(near, UInt(TIOCSWINSZ), &size)
    var settings = termios()
    tcgetattr(near, &settings)
    settings.c_lflag |= tcflag_t(ICANON | ECHO | ISIG)
    tcsetattr(near, TCSANOW, &settings)
    before = settings
  }

  deinit { close(near) }

  func start(_ arguments: [String]) throws -> TactusProcess {
    try TactusProcess(arguments, terminal: FileHandle(fileDescriptor: near, closeOnDealloc: false))
  }

  func type(_ keys: String) { _ = write(terminal.descriptor, keys, keys.utf8.count) }

  /// Reads on until the screen has shown `text` since it was last found something on.
  func see(_ text: String) -> Bool {
    while true {
      if let found = seen.range(of: text) {
        seen.removeSubrange(..<found.upperBound)
        return true
      }
      guard let bytes = readWhenReady(terminal.descriptor), !bytes.isEmpty else { return false }
      seen += String(decoding: bytes, as: UTF8.self)
    }
  }

  var changes: [String] { get throws { try terminalSettings(near).changes(since: before) } }
}
