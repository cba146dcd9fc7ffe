import DaemonSupport
import Foundation
import TestSupport
import Testing

@testable import TactusDaemon

/// A service manager's socket at `path`.
func boundSocket(_ path: String) throws -> Int32 {
  let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
  let bound = withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
  try #require(bound == 0)
  return descriptor
}

@Suite("service notifier", .ownThread)
struct ServiceNotifierTests {
  /// What a service manager's socket received.
  private func received(
    _ environment: [String: String] = [:], _ body: (ServiceNotifier) -> Void
  ) throws -> [String] {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("notify")
    let descriptor = try boundSocket(path)
    defer { close(descriptor) }
    body(ServiceNotifier(environment: environment.merging(["NOTIFY_SOCKET": path]) { $1 }, process: 42))
    var messages: [String] = []
    while let bytes = readWhenReady(descriptor, limit: 0) { messages.append(String(decoding: bytes, as: UTF8.self)) }
    return messages
  }

  @Test("ready, watchdog, stopping: one datagram each, as sd_notify writes them")
  func messages() throws {
    let messages = try received {
      $0.ready(status: "driving")
      $0.watchdog()
      $0.stopping()
    }
    #expect(messages == ["READY=1\nSTATUS=driving\n", "WATCHDOG=1\n", "STOPPING=1\n"])
  }

  @Test("a watchdog that is meant for another process is not fed; the manager is told all else")
  func anothersWatchdog() throws {
    func messages(watched: String) throws -> [String] {
      try received(["WATCHDOG_USEC": "2000000", "WATCHDOG_PID": watched]) {
        $0.watchdog()
        $0.stopping()
      }
    }
    #expect(try messages(watched: "43") == ["STOPPING=1\n"])
    #expect(try messages(watched: "42") == ["WATCHDOG=1\n", "STOPPING=1\n"])
  }

  @Test("no service manager, or nobody listening: nothing happens")
  func nobody() {
    ServiceNotifier(environment: [:]).ready(status: "")
    ServiceNotifier(environment: ["NOTIFY_SOCKET": "/nonexistent/socket"]).ready(status: "")
  }

  @Test("the watchdog interval: read only when it is meant for this process")
  func watchdog() {
    func interval(_ environment: [String: String]) -> Int? {
      ServiceNotifier(environment: environment, process: 42).watchdogMicroseconds
    }
    #expect(interval([:]) == nil)
    #expect(interval(["WATCHDOG_USEC": "2000000"]) == 2_000_000)
    #expect(interval(["WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "42"]) == 2_000_000)
    #expect(interval(["WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "43"]) == nil)
    #expect(interval(["WATCHDOG_USEC": "x"]) == nil)
  }
}
