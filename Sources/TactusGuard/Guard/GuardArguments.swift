import Tactus

/// The command line of the guard process, read by hand: it starts before anything else and must start fast.
///
///     --descriptor 3 --timeout-ms 1000 [--heartbeat-ms 100] [--watchdog /dev/watchdog --watchdog-s 15] [--stops 4] [--NAME VALUE]…
///     WRITE…
public struct GuardArguments: Hashable, Sendable {
  /// The guard's end of the socket.
  public var descriptor: Int32
  /// How far apart heartbeats are: the end is `--timeout-ms`, the beginning half of `--heartbeat-ms`.
  public var window: HeartbeatWindow
  /// The hardware watchdog to feed; `nil` for none.
  public var watchdog: HardwareWatchdog?
  /// The page on which it counts what it writes, or `nil` if there is none.
  public var stops: Int32?
  /// What the program that embeds the guard has added.
  public var options: [String: String]
  /// What to write, in this order.
  public var writes: [SafeStateWrite]

  /// `nil` if these are not the arguments of a guard.
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
    self.descriptor = descriptor
    self.window = window
    self.watchdog = watchdog
    self.stops = stops
    self.options = options
    self.writes = writes.compactMap(\.self)
  }

  /// Heartbeats every `heartbeat` ms, of which no two are due less than half of that apart, or `nil` if that cannot be.
  static func window(timeout: Int64, heartbeat: Int64) -> HeartbeatWindow? {
    guard (1...86_400_000).contains(timeout), (1...timeout).contains(heartbeat) else { return nil }
    return HeartbeatWindow(shortest: .microseconds(heartbeat * 500), longest: .milliseconds(timeout))
  }
}
