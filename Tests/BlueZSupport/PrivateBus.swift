import Foundation

/// A D-Bus of a test's own: Debian's dbus-daemon, on a socket in a folder of its own, ended with this object and, whatever
/// ends the tests, with them.
package final class PrivateBus: @unchecked Sendable {
  private static let program = find("dbus-daemon")
  /// Lets the kernel end it (PR_SET_PDEATHSIG), which Foundation cannot ask for.
  private static let wrapper = find("setpriv")
  package static let isThere = program != nil && wrapper != nil

  package let address: String
  private let folder: URL
  private let process = Process()
  private let ended = DispatchSemaphore(value: 0)

  package init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("tactus-bus-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let configuration = folder.appendingPathComponent("bus.conf")
    try """
    <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
      "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
    <busconfig>
      <type>system</type>
      <listen>unix:path=\(folder.path)/bus</listen>
      <auth>EXTERNAL</auth>
      <policy context="default">
        <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/><allow user="*"/>
      </policy>
    </busconfig>
    """.write(to: configuration, atomically: true, encoding: .utf8)
    process.executableURL = URL(fileURLWithPath: Self.wrapper!)
    process.arguments = [
      "--pdeathsig", "KILL", Self.program!, "--config-file=\(configuration.path)", "--nofork", "--print-address",
    ]
    let output = Pipe()
    process.standardOutput = output
    try Self.run(process, until: ended)
    // The address comes when it listens.
    var line = ""
    while let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data([10]) {
      line += String(decoding: byte, as: UTF8.self)
    }
    address = line
  }

  /// The signal comes when the thread ends that started it: one that lasts as long as the bus.
  private static func run(_ process: Process, until ended: DispatchSemaphore) throws {
    let started = DispatchSemaphore(value: 0)
    let failure = Failure()
    let starter = Starter(process: process)
    Thread {
      do { try starter.process.run() } catch { failure.error = error }
      started.signal()
      ended.wait()
    }.start()
    started.wait()
    if let error = failure.error { throw error }
  }

  // Handed over by the semaphore.
  private final class Failure: @unchecked Sendable { var error: (any Error)? }
  private struct Starter: @unchecked Sendable { let process: Process }

  private static func find(_ name: String) -> String? {
    ["/usr/bin/\(name)", "/bin/\(name)"].first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  package func stop() {
    // A child of a Dispatch worker has its signals blocked: only this one is sure.
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  deinit {
    stop()
    ended.signal()
    try? FileManager.default.removeItem(at: folder)
  }
}
