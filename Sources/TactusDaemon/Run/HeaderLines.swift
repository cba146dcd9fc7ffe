import Buses
import BusesLinux

/// A line of the header that something else needs, which the kernel does not say.
struct HeaderLineError: Error, Equatable, CustomStringConvertible {
  let line: GPIOLineName
  /// `console=serial0,115200`
  let console: String

  var description: String {
    "GPIO line \(line): expected a free line, but the kernel's console is on it (\(console)); use another line, or: sudo "
      + "raspi-config nonint do_serial_cons 1 && sudo reboot"
  }
}

/// Requests output lines for a system.
public enum HeaderLines {
  /// Every line an output and inactive. GPIO 14 and 15 are refused while the kernel's console is on them: it would write to
  /// whatever hangs there.
  ///
  /// - Parameter commandLine: the kernel's.
  /// - Throws: `HeaderLineError`, `GPIORequestError`.
  public static func request(
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
