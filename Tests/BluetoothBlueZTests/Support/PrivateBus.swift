import Foundation

/// A D-Bus of a test's own: Debian's dbus-daemon, on a socket in a folder of its own, ended with this object.
final class PrivateBus: @unchecked Sendable {
  static let program = ["/usr/bin/dbus-daemon", "/bin/dbus-daemon"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }
  static let isThere = program != nil

  let address: String
  private let folder: URL
  private let process = Process()

  init() throws {
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
    process.executableURL = URL(fileURLWithPath: Self.program!)
    process.arguments = ["--config-file=\(configuration.path)", "--nofork", "--print-address"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    // The address comes when it listens.
    var line = ""
    while let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data([10]) {
      line += String(decoding: byte, as: UTF8.self)
    }
    address = line
  }

  func stop() {
    // A child of a Dispatch worker has its signals blocked: only this one is sure.
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  deinit {
    stop()
    try? FileManager.default.removeItem(at: folder)
  }
}
