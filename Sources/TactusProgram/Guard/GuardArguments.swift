/// The command line of the guard process, read by hand: it starts before anything else and must start fast.
struct GuardArguments: Equatable {
  var descriptor: Int32
  var timeoutMilliseconds: Int
  var format: LogFormat
  var writes: [SafeStateWrite]

  /// The arguments after `guard`; nil when they are not those of `GuardLink`.
  init?(_ arguments: [String]) {
    guard arguments.count >= 6, arguments[0] == "--descriptor", let descriptor = Int32(arguments[1]),
      arguments[2] == "--timeout-ms", let timeout = Int(arguments[3]), timeout > 0,
      arguments[4] == "--log-format", let format = LogFormat(rawValue: arguments[5])
    else { return nil }
    let writes = arguments.dropFirst(6).map(SafeStateWrite.init)
    guard !writes.contains(nil) else { return nil }
    self.descriptor = descriptor
    timeoutMilliseconds = timeout
    self.format = format
    self.writes = writes.compactMap { $0 }
  }
}
