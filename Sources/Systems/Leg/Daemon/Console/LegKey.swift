@_spi(FromOutside) import Conversions
import TactusDaemon
import Wire

/// A key that the operator of a leg pressed.
enum LegKey: Equatable {
  case arm
  case disarm
  /// Disarms with the space bar, which is the largest key because this is the most urgent command.
  case disarmAtOnce
  case ping
  /// Sends the slider's pulse once.
  case send
  /// Switches the 50 Hz pulse on or off.
  case keepalive
  /// Moves the slider by this many microseconds.
  case move(by: Int)
  case moveTo(microseconds: Int)
  /// Scrolls the log by a number of lines; a positive number scrolls up.
  case scroll(by: Int)
  case quit

  /// Creates the command of a key. The result is `nil` for a key without a command.
  init?(_ key: TerminalKey) {
    switch key {
    case .character("a"), .character("A"): self = .arm
    case .character("d"), .character("D"): self = .disarm
    case .character(" "): self = .disarmAtOnce
    case .character("p"), .character("P"): self = .ping
    case .character("\r"), .character("\n"): self = .send
    case .character("k"), .character("K"): self = .keepalive
    case .character("c"), .character("C"): self = .moveTo(microseconds: 1500)
    case _ where key.quits: self = .quit
    // With shift, xterm sends the parameters `1;2`, rxvt a lower-case letter, and Linux's console no difference.
    case .sequence(_, "A"), .sequence(_, "c"): self = .move(by: 100)
    case .sequence(_, "B"), .sequence(_, "d"): self = .move(by: -100)
    case .sequence(let parameters, "C"): self = .move(by: parameters.hasSuffix(";2") ? 100 : 10)
    case .sequence(let parameters, "D"): self = .move(by: parameters.hasSuffix(";2") ? -100 : -10)
    case .sequence(_, "H"): self = .moveTo(microseconds: 500)
    case .sequence(_, "F"): self = .moveTo(microseconds: 2500)
    case .sequence(let parameters, "~"):
      switch parameters.prefix(while: { $0 != ";" }) {
      case "1", "7": self = .moveTo(microseconds: 500)
      case "4", "8": self = .moveTo(microseconds: 2500)
      case "5": self = .scroll(by: 10)
      case "6": self = .scroll(by: -10)
      default: return nil
      }
    default:
      guard let digit = key.digit else { return nil }
      self = .moveTo(microseconds: 500 + 200 * digit)
    }
  }
}

/// The pulse that the operator adjusts with keys, 500…2500 µs.
struct LegSlider: Equatable {
  private(set) var microseconds = Int(PulseWidth.middle.microseconds)

  var pulse: PulseWidth { .microseconds(UInt16(clamping: microseconds)) }

  mutating func press(_ key: LegKey) {
    switch key {
    case .move(let by): microseconds = min(2500, max(500, microseconds + by))
    case .moveTo(let wanted): microseconds = min(2500, max(500, wanted))
    case .arm, .disarm, .disarmAtOnce, .ping, .send, .keepalive, .scroll, .quit: break
    }
  }

  /// The slider as text, `500 ├─────●─────┤ 2500`, with 41 positions of the knob.
  var drawing: String { drawing(columns: 40) }

  func drawing(columns: Int) -> String {
    let place = ((microseconds - 500) * columns + 1000) / 2000
    return "500 ├" + String(repeating: "─", count: place) + "●" + String(repeating: "─", count: columns - place)
      + "┤ 2500"
  }
}
