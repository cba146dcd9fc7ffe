@_spi(FromOutside) import Conversions
import Wire

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
