import BusesLinux
import CDaemon
import Foundation
import TestSupport
import Testing

@testable import TactusProgram

/// The guard's process alone, its daemon played by the test: a pseudo-terminal stands for the xgo-rider's serial line.
@Suite("guard process", .ownThread)
struct GuardProcessTests {
  static let neutral: [UInt8] = [
    0x55, 0x00, 0x09, 0x01, 0x30, 0x7F, 0x46, 0x00, 0xAA, 0x55, 0x00, 0x09, 0x01, 0x32, 0x7F, 0x44, 0x00, 0xAA,
  ]

  private let terminal: LinuxPTY
  private let socket: Int32
  private let process: TactusProcess

  init() throws {
    terminal = try LinuxPTY()
    var pair: [Int32] = [-1, -1]
    try #require(daemon_socket_pair(&pair) == 0)
    socket = pair[0]
    let theirs = FileHandle(fileDescriptor: pair[1], closeOnDealloc: true)
    process = try TactusProcess(
      [
        "guard", "--descriptor", "0", "--timeout-ms", "300", "--log-format", "json",
        "serial:115200:\(Self.neutral.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()):\(terminal.path)",
      ], standardInput: theirs)
    try theirs.close()
    #expect(readWhenReady(socket) == [GuardProcess.ready])
  }

  private func send(_ byte: UInt8) {
    var byte = byte
    #expect(daemon_send(socket, &byte, 1) == 1)
  }

  @Test("the daemon is gone: both neutral frames, one log line, then it ends")
  func death() {
    send(GuardProcess.heartbeat)
    close(socket)
    #expect(readWhenReady(terminal.descriptor) == Self.neutral)
    #expect(process.finish() == 0)
    #expect(process.said.split(separator: "\n").count == 1)
    #expect(process.said.contains(#""msg":"the daemon is gone: every actuator was put into its safe state""#))
  }

  @Test("the daemon is silent: both neutral frames, and again while the silence lasts")
  func silence() {
    send(GuardProcess.heartbeat)
    #expect(readWhenReady(terminal.descriptor) == Self.neutral)
    #expect(readWhenReady(terminal.descriptor) == Self.neutral)
    send(GuardProcess.heartbeat)
    #expect(process.waitFor("the daemon's heartbeat is back"))
    send(GuardProcess.goodbye)
    #expect(process.finish() == 0)
    close(socket)
  }

  @Test("a goodbye: it ends and writes nothing")
  func goodbye() {
    send(GuardProcess.goodbye)
    #expect(process.finish() == 0)
    #expect(process.said == "")
    #expect(readWhenReady(terminal.descriptor, limit: 0) == nil)
    close(socket)
  }

  @Test(
    "a terminal's and a service manager's signals: ignored", arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE])
  func signals(signal: Int32) {
    kill(process.identifier, signal)
    close(socket)
    #expect(readWhenReady(terminal.descriptor) == Self.neutral)
    #expect(process.finish() == 0)
  }
}
