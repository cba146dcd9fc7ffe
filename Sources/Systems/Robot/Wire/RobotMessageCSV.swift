import Wire

extension ByteScanner {
  /// Decodes `left,right[,direction]`, the legacy form. The scanner is at the first byte that is not white space.
  @_noLocks @_noAllocation
  mutating func robotCSV() throws(DatagramError) -> RobotMessage {
    let left = try csvSpeed()
    try require(0x2C)
    skipWhiteSpace()
    let right = try csvSpeed()
    let direction = skip(0x2C) ? try csvDirection() : 0x30
    guard isAtEnd else { throw .malformed(at: index) }
    return RobotMessage(csvLeft: left, right: right, direction: direction)
  }

  @_noLocks @_noAllocation
  private mutating func csvSpeed() throws(DatagramError) -> Double {
    let start = index
    let value = try csvNumber().value
    guard value.isFinite else { throw .notFinite(at: start) }
    skipWhiteSpace()
    return value
  }

  /// Scans and returns the ASCII digit 0, 1 or 2.
  @_noLocks @_noAllocation
  private mutating func csvDirection() throws(DatagramError) -> UInt8 {
    skipWhiteSpace()
    let start = index
    let digit = byte
    guard !isAtEnd else { throw .malformed(at: start) }
    guard digit >= 0x30 && digit <= 0x32 else { throw .unknownDirection(at: start) }
    index &+= 1
    guard byte &- 0x30 >= 10 else { throw .unknownDirection(at: start) }
    skipWhiteSpace()
    return digit
  }
}

extension RobotMessage {
  /// Creates a message from speeds as sent, before clamping, so that 150,120 does not count as equal speeds. `direction` is the ASCII
  /// digit 0, 1 or 2.
  @_noLocks @_noAllocation
  fileprivate init(csvLeft left: Double, right: Double, direction: UInt8) {
    let isTurn = direction != 0x30
    let isLeftTurn = direction == 0x31
    if isTurn && left == right {
      let magnitude = left.magnitude
      self.init(
        .drive(
          WheelSpeeds(
            clampingLeft: isLeftTurn ? 0 - magnitude : magnitude, right: isLeftTurn ? magnitude : 0 - magnitude)))
    } else {
      self.init(
        .drive(WheelSpeeds(clampingLeft: left, right: right)),
        directionMismatch: isTurn && (right > left) != isLeftTurn)
    }
  }
}
