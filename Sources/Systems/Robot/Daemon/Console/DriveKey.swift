import TactusDaemon

/// A key that the operator pressed.
enum DriveKey: Equatable {
  case forward, back, left, right
  /// Release the stick.
  case rest
  case emergencyStop
  case reset
  case quit
  /// Set the share of full speed at full stick, 1…10 tenths.
  case speed(tenths: Int)

  /// Returns `nil` for a key without a meaning.
  init?(_ key: TerminalKey) {
    switch key {
    case .character("w"), .character("W"), .sequence(_, "A"): self = .forward
    case .character("s"), .character("S"), .sequence(_, "B"): self = .back
    case .character("a"), .character("A"), .sequence(_, "D"): self = .left
    case .character("d"), .character("D"), .sequence(_, "C"): self = .right
    case .character("x"), .character("X"), .character("\r"), .character("\n"): self = .rest
    case .character(" "): self = .emergencyStop
    case .character("r"), .character("R"): self = .reset
    case _ where key.quits: self = .quit
    default:
      guard let digit = key.digit else { return nil }
      self = .speed(tenths: digit == 0 ? 10 : digit)
    }
  }
}
