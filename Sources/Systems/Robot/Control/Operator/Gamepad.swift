/// A gamepad as an operator's controls: the left stick drives, buttons stop.
///
/// A stick that is held when the program starts, or when the robot's answers come back, drives nothing until it has been released once.
public struct Gamepad: Sendable {
  /// The motion that a fully deflected stick requests.
  public enum Reach: Sendable, Hashable {
    /// A fully deflected stick requests 100 % of both wheels, mixed as those of a joystick.
    case percent
    /// A fully deflected stick requests this motion, whose speeds are positive.
    case si(Twist)
  }

  /// An action that an event requires.
  public enum Consequence: Sendable, Hashable {
    /// The operator asks for this.
    case ask(OperatorRequest)
    /// The kernel has dropped events, so the axes and buttons must be read again.
    case readAgain
  }

  // The numbers are those of <linux/input-event-codes.h>.
  private static let synchronisation: UInt16 = 0
  private static let key: UInt16 = 1
  private static let absolute: UInt16 = 3
  private static let dropped: UInt16 = 3
  /// The number of the left stick's axis to the right (`ABS_X`).
  public static let xAxis: UInt16 = 0
  /// The number of the left stick's axis to the operator (`ABS_Y`).
  public static let yAxis: UInt16 = 1
  /// The lower button (`BTN_SOUTH`: A, or a cross), which stops.
  public static let stopButton: UInt16 = 0x130
  /// The right button (`BTN_EAST`: B, or a circle), which is the emergency stop.
  public static let emergencyStopButton: UInt16 = 0x131
  /// The start button (`BTN_START`), which requests a reset.
  public static let resetButton: UInt16 = 0x13B

  private let reach: Reach
  private var x: GamepadAxis
  private var y: GamepadAxis
  /// Whether the stick has been at rest since the start, or since the robot's answers came back.
  private var hasRested = false
  /// Whether the robot does not answer. The stick then requests nothing, and must be released before it does again.
  public var isOff = false { didSet { if isOff { hasRested = false } else { noteRest() } } }

  /// Creates a gamepad from its two axes as they are.
  public init(x: GamepadAxis, y: GamepadAxis, reach: Reach = .percent) {
    (self.x, self.y, self.reach) = (x, y, reach)
    noteRest()
  }

  /// Handles one event; every event is allowed. Returns what must be done because of it, or `nil` if there is nothing besides `input`.
  public mutating func receive(_ event: InputEvent) -> Consequence? {
    switch (event.type, event.code) {
    case (Self.absolute, Self.xAxis): x.move(to: event.value)
    case (Self.absolute, Self.yAxis): y.move(to: event.value)
    case (Self.key, let button) where event.value == 1: return Self.request(of: button).map { .ask($0) }
    case (Self.synchronisation, Self.dropped): return .readAgain
    default: return nil
    }
    noteRest()
    return nil
  }

  private mutating func noteRest() {
    if !isOff, x.position == 0, y.position == 0 { hasRested = true }
  }

  private static func request(of button: UInt16) -> OperatorRequest? {
    switch button {
    case stopButton: .stop
    case emergencyStopButton: .emergencyStop
    case resetButton: .reset
    default: nil
    }
  }

  /// The motion that the stick asks for. An axis grows towards the operator, and a turn to the left is positive in SI units.
  public var input: OperatorInput {
    let (right, forward) = (x.position, -y.position)
    guard hasRested, !isOff, right != 0 || forward != 0 else { return .rest }
    switch reach {
    case .percent: return .joystick(x: right, y: forward)
    case .si(let most):
      return .twist(
        Twist(
          metresPerSecond: forward * most.metresPerSecond, radiansPerSecond: -right * most.radiansPerSecond))
    }
  }
}

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

  /// Records the position of the stick. A value beyond the range counts as its end.
  public mutating func move(to value: Int32) { self.value = Double(value) }

  /// The position of the stick, −1…1. It is 0 within the dead zone and rises from 0 at the edge of that zone.
  public var position: Double {
    let share = min(max((value - middle) / half, -1), 1)
    guard share.magnitude > deadZone else { return 0 }
    let beyond = (share.magnitude - deadZone) / (1 - deadZone)
    return share < 0 ? -beyond : beyond
  }
}
