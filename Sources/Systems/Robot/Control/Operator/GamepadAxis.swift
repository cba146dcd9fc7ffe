/// One axis of a stick, as its device reports it: the range, and where it is.
public struct GamepadAxis: Sendable, Hashable, BitwiseCopyable {
  /// The share of half the range about the middle in which the stick counts as released: sticks do not come back exactly.
  public static let leastDeadZone = 0.1

  private let middle: Double
  private let half: Double
  private let deadZone: Double
  private var value: Double

  /// Creates an axis. Returns `nil` if its range is empty.
  ///
  /// - Parameters:
  ///   - minimum, maximum: the ends of the range, in the device's own numbers.
  ///   - flat: how far from the middle the device itself calls its stick released.
  ///   - value: where the stick is.
  public init?(minimum: Int32, maximum: Int32, flat: Int32, value: Int32) {
    guard minimum < maximum else { return nil }
    middle = (Double(minimum) + Double(maximum)) / 2
    half = (Double(maximum) - Double(minimum)) / 2
    deadZone = min(max(Self.leastDeadZone, Double(flat) / half), 0.9)
    self.value = Double(value)
  }

  /// Notes where the stick is. A value beyond the range counts as its end.
  public mutating func move(to value: Int32) { self.value = Double(value) }

  /// Where the stick is, −1…1; 0 within the dead zone, at whose edge it begins to rise from 0.
  public var position: Double {
    let share = min(max((value - middle) / half, -1), 1)
    guard share.magnitude > deadZone else { return 0 }
    let beyond = (share.magnitude - deadZone) / (1 - deadZone)
    return share < 0 ? -beyond : beyond
  }
}
