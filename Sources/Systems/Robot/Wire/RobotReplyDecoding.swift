import Tactus
import Wire

extension RobotReply {
  /// Decodes a reply from a datagram.
  ///
  /// The text must be strict JSON by the rules of `RobotMessage.decode`; unknown keys are ignored. `echo`, `state`, `left` and `right`
  /// are required; an absent `age_ms` or `reason` is `nil`, as is a `reason` that does not fit a `ShortText`.
  /// Every byte string yields a reply or an error. Timing: linear; no allocation, no lock.
  @_noLocks @_noAllocation
  public static func decode(_ bytes: UnsafeRawBufferPointer) throws(DatagramError) -> RobotReply {
    guard bytes.count <= RobotMessage.maximumLength else { throw .tooLong(count: bytes.count) }
    var scanner = ByteScanner(bytes)
    scanner.skipWhiteSpace()
    guard !scanner.isAtEnd else { throw .empty }
    try scanner.require(0x7B)
    var fields = ReplyFields()
    var isFirst = true
    while let (key, field) = try scanner.jsonMember(isFirst: isFirst) {
      isFirst = false
      if let key { fields.set(key, field) }
    }
    try scanner.requireEnd()
    return try fields.reply()
  }
}

/// The known keys of a reply. The last value of a repeated key counts; a key that is absent is `nil`.
private struct ReplyFields {
  var echo: JSONField?
  var state: JSONField?
  var left: JSONField?
  var right: JSONField?
  var age: JSONField?
  var reason: JSONField?

  @_noLocks @_noAllocation
  init() {}

  @_noLocks @_noAllocation
  mutating func set(_ key: ShortText, _ field: JSONField) {
    if key == ShortText("echo") {
      echo = field
    } else if key == ShortText("state") {
      state = field
    } else if key == ShortText("left") {
      left = field
    } else if key == ShortText("right") {
      right = field
    } else if key == ShortText("age_ms") {
      age = field
    } else if key == ShortText("reason") {
      reason = field
    }
  }

  @_noLocks @_noAllocation
  func reply() throws(DatagramError) -> RobotReply {
    guard let echo = try wholeNumber(echo), let left = try finite(left), let right = try finite(right), let state else {
      throw .missing
    }
    return RobotReply(
      echo: echo, state: try self.state(state), speeds: WheelSpeeds(clampingLeft: left, right: right),
      age: try age(self.age),
      reason: try reason(self.reason))
  }

  @_noLocks @_noAllocation
  private func state(_ field: JSONField) throws(DatagramError) -> RobotReply.State {
    guard case .string(let text) = field.value else { throw .wrongType(at: field.at) }
    guard let text else { throw .unknownState(at: field.at) }
    if text == ShortText("stopped") { return .stopped }
    if text == ShortText("driving") { return .driving }
    if text == ShortText("estop") { return .emergencyStop }
    if text == ShortText("fault") { return .fault }
    throw .unknownState(at: field.at)
  }

  @_noLocks @_noAllocation
  private func age(_ field: JSONField?) throws(DatagramError) -> Nanoseconds? {
    guard let field else { return nil }
    if case .null = field.value { return nil }
    guard let milliseconds = try wholeNumber(field) else { return nil }
    guard milliseconds <= UInt64(clamping: Int64.max) / 1_000_000 else { throw .outOfRange(at: field.at) }
    return Nanoseconds(Int64(clamping: milliseconds) * 1_000_000)
  }

  @_noLocks @_noAllocation
  private func reason(_ field: JSONField?) throws(DatagramError) -> ShortText? {
    guard let field else { return nil }
    switch field.value {
    case .null: return nil
    case .string(let text): return text
    case .number, .other: throw .wrongType(at: field.at)
    }
  }
}
