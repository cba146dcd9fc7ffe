import Tactus
import Wire

extension ByteScanner {
  /// Decodes the JSON form. The scanner is at the opening brace.
  @_noLocks @_noAllocation
  mutating func robotJSON() throws(DatagramError) -> RobotMessage {
    index &+= 1
    var fields = RobotFields()
    var isFirst = true
    while let (key, field) = try jsonMember(isFirst: isFirst) {
      isFirst = false
      if let key { fields.set(key, field) }
    }
    try requireEnd()
    return try fields.message()
  }
}

/// The known keys of a datagram. The last value of a repeated key counts; a key that is absent is `nil`.
private struct RobotFields {
  var left: JSONField?
  var right: JSONField?
  var timestamp: JSONField?
  var echo: JSONField?
  var command: JSONField?
  var speed: JSONField?
  var direction: JSONField?
  var linear: JSONField?
  var angular: JSONField?

  @_noLocks @_noAllocation
  init() {}

  @_noLocks @_noAllocation @inline(__always)
  mutating func set(_ key: ShortText, _ field: JSONField) {
    if key == ShortText("left") {
      left = field
    } else if key == ShortText("right") {
      right = field
    } else if key == ShortText("timestamp") {
      timestamp = field
    } else if key == ShortText("echo") {
      echo = field
    } else if key == ShortText("command") {
      command = field
    } else if key == ShortText("speed") {
      speed = field
    } else if key == ShortText("direction") {
      direction = field
    } else if key == ShortText("linear") {
      linear = field
    } else if key == ShortText("angular") {
      angular = field
    }
  }

  /// Returns the message that the fields form. Every known key is checked, whether the message uses the key or not.
  @_noLocks @_noAllocation
  func message() throws(DatagramError) -> RobotMessage {
    let left = try finite(self.left)
    let right = try finite(self.right)
    let timestamp = try finite(present(self.timestamp))
    let echo = try wholeNumber(present(self.echo))
    let speed = try finite(self.speed)
    let direction = try finite(self.direction)
    let linear = try twistPart(self.linear)
    let angular = try twistPart(self.angular)

    let datagram: RobotCommand
    if let command {
      datagram = try self.datagram(command, speed: speed ?? 0, direction: direction ?? 0)
    } else if linear != nil || angular != nil {
      guard left == nil, right == nil else { throw .twoUnits }
      datagram = .twist(Twist(metresPerSecond: linear ?? 0, radiansPerSecond: angular ?? 0))
    } else if left != nil || right != nil {
      datagram = .drive(WheelSpeeds(clampingLeft: left ?? 0, right: right ?? 0))
    } else if echo != nil {
      datagram = .query
    } else {
      throw .missing
    }
    return RobotMessage(datagram, timestamp: timestamp.map { SenderTimestamp(wireValue: $0) }, echo: echo)
  }

  @_noLocks @_noAllocation @inline(__always)
  private func datagram(
    _ command: JSONField, speed: Double, direction: Double
  ) throws(DatagramError) -> RobotCommand {
    guard case .string(let text) = command.value else { throw .wrongType(at: command.at) }
    guard let name = text else { throw .unknownCommand(at: command.at) }
    if name == ShortText("move") {
      let clamped = WheelSpeeds(clampingLeft: speed, right: direction)
      return .drive(WheelSpeeds(speed: clamped.left.value, direction: clamped.right.value))
    }
    if name == ShortText("stop") { return .stop }
    if name == ShortText("estop") || name == ShortText("e-stop") || name == ShortText("emergency_stop") {
      return .emergencyStop
    }
    if name == ShortText("reset") { return .reset }
    if name == ShortText("query") { return .query }
    throw .unknownCommand(at: command.at)
  }
}

/// Returns the field, or `nil` if the field is absent or null: encoders write null for an optional value that is absent.
@_noLocks @_noAllocation @inline(__always)
private func present(_ field: JSONField?) -> JSONField? {
  if case .some(.null) = field?.value { return nil }
  return field
}

/// Returns a part of a twist, or `nil` if the field is absent. No robot does more than `Twist.most`: a larger number is a mistake of the
/// sender, which is refused rather than clamped.
@_noLocks @_noAllocation @inline(__always)
private func twistPart(_ field: JSONField?) throws(DatagramError) -> Double? {
  guard let field, let value = try finite(field) else { return nil }
  guard value.magnitude <= Twist.most else { throw .outOfRange(at: field.at) }
  return value
}

/// Returns the number of a field, or `nil` if the field is absent.
@_noLocks @_noAllocation @inline(__always)
func finite(_ field: JSONField?) throws(DatagramError) -> Double? {
  guard let field else { return nil }
  guard case .number(let number) = field.value else { throw .wrongType(at: field.at) }
  guard number.value.isFinite else { throw .notFinite(at: field.at) }
  return number.value
}

/// Returns the whole number 0…2⁵³ of a field, or `nil` if the field is absent. 5.0 and 5e0 are whole.
@_noLocks @_noAllocation @inline(__always)
func wholeNumber(_ field: JSONField?) throws(DatagramError) -> UInt64? {
  guard let value = try finite(field), let field, case .number(let number) = field.value else { return nil }
  // Digits are compared exactly: 2⁵³ + 1 has no double of its own.
  if let digits = number.digits {
    guard digits <= 9_007_199_254_740_992 else { throw .outOfRange(at: field.at) }
    return digits
  }
  guard value >= 0 && value <= 9_007_199_254_740_992 else { throw .outOfRange(at: field.at) }
  let whole = UInt64(saturating: value)
  guard Double(whole) == value else { throw .outOfRange(at: field.at) }
  return whole
}
