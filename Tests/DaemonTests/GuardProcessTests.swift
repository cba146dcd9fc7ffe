import BusesLinux
import CTactusGuard
import DaemonSupport
import Foundation
import Tactus
import TactusGuard
import TestSupport
import Testing

@testable import TactusDaemon

/// The guard's process alone, its daemon played by the test: a pseudo-terminal stands for the xgo-rider's serial line.
@Suite("guard process", .ownThread)
struct GuardProcessTests {
  static let neutral: [UInt8] = [
    0x55, 0x00, 0x09, 0x01, 0x30, 0x7F, 0x46, 0x00, 0xAA, 0x55, 0x00, 0x09, 0x01, 0x32, 0x7F, 0x44, 0x00, 0xAA,
  ]

  private let terminal: LinuxPTY
  private let socket: Int32
  private var heartbeats: HeartbeatSender
  private let process: TactusProcess

  init() throws { try self.init(timeoutMilliseconds: 600_000) }

  /// - Parameter timeoutMilliseconds: of the heartbeat. Long unless it is to lapse: on a loaded machine a test may be slow.
  private init(timeoutMilliseconds: Int) throws {
    terminal = try LinuxPTY()
    var pair: [Int32] = [-1, -1]
    try #require(tactus_guard_socket_pair(&pair) == 0)
    socket = pair[0]
    heartbeats = HeartbeatSender(socket: pair[0])
    let theirs = FileHandle(fileDescriptor: pair[1], closeOnDealloc: true)
    process = try TactusProcess(
      [
        "guard", "--descriptor", "0", "--timeout-ms", "\(timeoutMilliseconds)", "--log-format", "json",
        "serial:115200:\(Self.neutral.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()):\(terminal.path)",
      ], standardInput: theirs)
    try theirs.close()
    var failures = [CChar](repeating: 0, count: 1000)
    #expect(tactus_guard_await_ready(socket, patience, nil, &failures, failures.count) == 1 && failures[0] == 0)
  }

  private mutating func beat() {
    let now = MonotonicClock.now
    #expect(heartbeats.send(due: now, at: now, watched: 0, advanced: 0) == .answers)
  }

  private func dismiss() {
    var message = tactus_guard_message()
    message.kind = UInt64(TACTUS_GUARD_DISMISS.rawValue)
    #expect(tactus_guard_send(socket, &message) == 0)
  }

  @Test("the daemon is gone: both neutral frames, one log line, then it ends")
  mutating func death() {
    beat()
    close(socket)
    #expect(readWhenReady(terminal.descriptor) == Self.neutral)
    #expect(process.finish() == 0)
    #expect(process.said.split(separator: "\n").count == 1)
    let words = "the daemon is gone: every actuator was sent its safe state; nothing confirms it on "
    #expect(process.said.contains(#""msg":"\#(words)"#))
  }

  @Test("the daemon is silent: both neutral frames, and again while the silence lasts")
  func silence() throws {
    var hasty = try Self(timeoutMilliseconds: 300)
    hasty.fallSilent()
    // The one that the testing library made.
    close(socket)
    #expect(process.finish() == 0)
  }

  private mutating func fallSilent() {
    beat()
    // On a loaded machine both may have come before the first is read.
    var heard: [UInt8] = []
    while heard.count < 2 * Self.neutral.count, let bytes = readWhenReady(terminal.descriptor) { heard += bytes }
    #expect(heard.starts(with: Self.neutral + Self.neutral), "\(heard)")
    beat()
    #expect(process.waitFor("the daemon's heartbeat is back"))
    dismiss()
    #expect(process.finish() == 0)
    close(socket)
  }

  @Test("a dismissal: it ends and writes nothing")
  func dismissal() {
    dismiss()
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
