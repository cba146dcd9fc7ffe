import Buses
import BusesLinux

/// The error for a line of the header that the kernel uses as its console and does not report as used.
struct HeaderLineError: Error, Equatable, CustomStringConvertible {
  let line: GPIOLineName
  /// The kernel's console parameter, such as `console=serial0,115200`.
  let console: String

  var description: String {
    "GPIO line \(line): expected a free line, but the kernel's console is on it (\(console)); use another line, or: sudo "
      + "raspi-config nonint do_serial_cons 1 && sudo reboot"
  }
}

/// Requests output lines of the header for a system.
enum HeaderLines {
  /// Requests every line as an inactive output. GPIO 14 and 15 are refused while the kernel's console uses them,
  /// because the kernel would write to a device connected to them.
  ///
  /// - Parameter commandLine: the command line of the kernel.
  /// - Throws: `HeaderLineError` if the console uses a line, or `GPIORequestError` if the kernel rejects the request.
  static func request(
    _ lines: [GPIOLine], commandLine: String? = YAMLFile.contents(of: "/proc/cmdline")
  ) throws -> LinuxGPIOLines {
    if let error = refusal(of: lines.map(\.name), commandLine: commandLine ?? "") { throw error }
    return try LinuxGPIOLines(lines)
  }

  static func refusal(of lines: [GPIOLineName], commandLine: String) -> HeaderLineError? {
    let consoles = ["console=serial0", "console=ttyAMA0", "console=ttyS0"]
    let console = commandLine.split(whereSeparator: \.isWhitespace).first { argument in
      consoles.contains(String(argument.prefix { $0 != "," }))
    }
    guard let console, let line = lines.first(where: { $0 == .bcm(14) || $0 == .bcm(15) }) else { return nil }
    return HeaderLineError(line: line, console: String(console))
  }
}
