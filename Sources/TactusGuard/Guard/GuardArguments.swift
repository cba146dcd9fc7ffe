@_spi(FromOutside) import Conversions
import Tactus

/// The command line of the guard process. It is parsed by hand because the guard runs before all other code and must start fast.
///
///     --descriptor 3 --timeout-ms 1000 [--heartbeat-ms 100] [--watchdog /dev/watchdog --watchdog-s 15] [--stops 4]
///     [--first-ms 5000] [--other-program keep|kill|exit-only] [--NAME VALUE]… WRITE…
public struct GuardArguments: Hashable, Sendable {
  /// The descriptor of the guard's end of the socket.
  public var descriptor: Int32
  /// The window of time between heartbeats: its end is `--timeout-ms`, its beginning half of `--heartbeat-ms`.
  public var window: HeartbeatWindow
  /// The hardware watchdog to feed, or `nil` if none is fed.
  public var watchdog: HardwareWatchdog?
  /// The descriptor of the page on which the guard counts its writes, or `nil` if the program has no such page.
  public var stops: Int32?
  /// The way in which the guard watches a program that has not started it through this product, or `nil` for a program that has.
  public var other: OtherProgram?
  /// Further options that the embedding program has added, by name.
  public var options: [String: String]
  /// The time in which the first heartbeat is due, the timeout or longer, since a program may take long to start.
  public var first: Nanoseconds
  /// The safe-state writes, in the order in which they are made.
  public var writes: [SafeStateWrite]

  /// Parses a command line. The result is `nil` if these are not the arguments of a guard.
  ///
  /// - Parameter custom: the names of custom writes.
  public init?(_ arguments: [String], custom: Set<String> = []) {
    var options: [String: String] = [:]
    var rest = arguments[...]
    while let name = rest.first, name.hasPrefix("--"), rest.count >= 2 {
      options[String(name.dropFirst(2))] = rest[rest.startIndex + 1]
      rest = rest.dropFirst(2)
    }
    guard let descriptor = options.removeValue(forKey: "descriptor").flatMap({ Int32($0) }), descriptor >= 0,
      let timeout = options.removeValue(forKey: "timeout-ms").flatMap({ Int64($0) }),
      let heartbeat = Int64(options.removeValue(forKey: "heartbeat-ms") ?? "100"),
      let window = Self.window(timeout: timeout, heartbeat: heartbeat)
    else { return nil }
    var watchdog: HardwareWatchdog?
    if let path = options.removeValue(forKey: "watchdog") {
      let seconds = options.removeValue(forKey: "watchdog-s").flatMap { Int($0) }
      guard path.hasPrefix("/"), let seconds, seconds >= 1
      else { return nil }
      watchdog = HardwareWatchdog(path: path, timeoutSeconds: seconds)
    }
    let stops = options.removeValue(forKey: "stops").map { Int32($0) ?? -1 }
    guard stops.map({ $0 >= 0 }) ?? true else { return nil }
    let writes = rest.map { SafeStateWrite($0, custom: custom) }
    guard !writes.contains(nil) else { return nil }
    guard let first = Int64(options.removeValue(forKey: "first-ms") ?? "\(timeout)"), (1...86_400_000).contains(first)
    else { return nil }
    var other: OtherProgram?
    if let word = options.removeValue(forKey: "other-program") {
      guard let read = OtherProgram(word) else { return nil }
      other = read
    }
    self.other = other
    self.first = .milliseconds(max(first, timeout))
    self.descriptor = descriptor
    self.window = other?.expectsHeartbeats ?? true ? window : .unlimited
    self.watchdog = watchdog
    self.stops = stops
    self.options = options
    self.writes = writes.compactMap(\.self)
  }

  /// Returns a window for heartbeats every `heartbeat` ms that are due at least half of that apart, or `nil` if a number is out of range.
  static func window(timeout: Int64, heartbeat: Int64) -> HeartbeatWindow? {
    guard (1...86_400_000).contains(timeout), (1...timeout).contains(heartbeat) else { return nil }
    return HeartbeatWindow(shortest: .microseconds(heartbeat * 500), longest: .milliseconds(timeout))
  }
}

/// A program in any language. Its process has started the guard and then become the program (`exec`), which has the guard's socket.
///
/// The program counts as dead when its process has ended, since programs that it starts may hold the socket, too.
public struct OtherProgram: Hashable, Sendable {
  /// Whether the program sends heartbeats. Otherwise the guard acts only when the program ends.
  public var expectsHeartbeats: Bool
  /// Whether the guard kills the program once its heartbeats are late or faulty. Otherwise the program could write its outputs again and would hold
  /// lines that the guard needs.
  public var isKilled: Bool

  init?(_ word: String) {
    switch word {
    case "kill": (expectsHeartbeats, isKilled) = (true, true)
    case "keep": (expectsHeartbeats, isKilled) = (true, false)
    case "exit-only": (expectsHeartbeats, isKilled) = (false, false)
    default: return nil
    }
  }
}
