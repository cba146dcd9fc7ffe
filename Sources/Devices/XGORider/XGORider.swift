import Buses
@_spi(FromOutside) import Conversions
import Tactus
import Wire

/// The XGO-Rider balance board of the Rider-Pi, on a UART at 115,200 8N1.
///
/// The board balances by itself and is commanded a forward speed and a turn rate. The driver is a small value that takes the line
/// per call; its state is one request and the beginning of the reply. The board keeps the last command, so the command must
/// be repeated, and the board stopped before the program ends. The errors are `full` if the line did not accept all bytes (the
/// board drops the cut frame, and the next call sends a whole one again), and `gone`. Timing: one write of 18 bytes per command,
/// 9 bytes for the height and for the
/// balance; never blocks. Source: README.md beside this file.
public struct XGORider: Sendable, BitwiseCopyable {
  /// The values that the board can be asked for.
  public enum Quantity: Sendable, BitwiseCopyable {
    /// The battery's charge.
    case battery
    /// The measured roll, positive to the right.
    case roll
    /// The measured pitch, positive forward.
    case pitch

    var address: XGOAddress {
      @_noLocks @_noAllocation get {
        switch self {
        case .battery: .battery
        case .roll: .measuredRoll
        case .pitch: .measuredPitch
        }
      }
    }

    /// The number of bytes of the answer.
    var count: UInt8 {
      @_noLocks @_noAllocation get {
        switch self {
        case .battery: 1
        case .roll, .pitch: 4
        }
      }
    }
  }

  /// The result of a request.
  public enum Reply: Sendable, Hashable, BitwiseCopyable {
    /// The battery's charge, 0…100 %.
    case charge(Percent)
    /// The measured roll in degrees, −180…180.
    case roll(degrees: Double)
    /// The measured pitch in degrees, −180…180.
    case pitch(degrees: Double)
    /// No valid reply came within `replyTimeout`.
    case timedOut(Quantity)

    /// Creates the reply that is in a frame. The result is `nil` if the frame does not answer the question or its value is out of range.
    @_noLocks @_noAllocation
    init?(_ frame: XGOFrame, to quantity: Quantity) {
      guard frame.address == quantity.address, frame.dataCount == Int(quantity.count) else { return nil }
      switch quantity {
      case .battery:
        guard frame.data(0) <= 100 else { return nil }
        self = .charge(Percent(Double(frame.data(0))))
      case .roll:
        guard let angle = Self.angle(frame) else { return nil }
        self = .roll(degrees: angle)
      case .pitch:
        guard let angle = Self.angle(frame) else { return nil }
        self = .pitch(degrees: angle)
      }
    }

    /// Returns the angle in a frame in degrees, or `nil` if it is out of range or a NaN.
    @_noLocks @_noAllocation
    private static func angle(_ frame: XGOFrame) -> Double? {
      guard let float = frame.float, float >= -180, float <= 180 else { return nil }
      return Double(float)
    }
  }

  private struct Question: Sendable, BitwiseCopyable {
    let quantity: Quantity
    let at: TickInstant
  }

  /// The forward speed for 100 % on both wheels, in m/s, 0…1.5.
  public let topSpeed: Double
  /// The turn rate for +100 % against −100 %, in degrees per second, 0…360.
  public let topYawRate: Double
  /// The longest time that the board may take to answer.
  public let replyTimeout: Nanoseconds
  private var reader = XGOFrameReader()
  private var asked: Question?

  /// Creates a driver. Traps for limits beyond those of the board.
  public init(
    topSpeed: Double = 1.5, topYawRate: Double = 360, replyTimeout: Nanoseconds = Nanoseconds(1_000_000_000)
  ) {
    precondition((0...1.5).contains(topSpeed) && (0...360).contains(topYawRate) && replyTimeout > .zero)
    self.topSpeed = topSpeed
    self.topYawRate = topYawRate
    self.replyTimeout = replyTimeout
  }

  /// Sends a forward speed of (L + R)/2 and a turn rate of (R − L)/2, positive to the left. A speed of NaN counts as zero.
  @_noLocks @_noAllocation
  public func drive(_ speeds: WheelSpeeds, on port: inout SerialPort) throws(SerialError) {
    let left = share(speeds.left)
    let right = share(speeds.right)
    try command(
      forward: RiderScale.forwardSpeed.byte(0.5 * (left + right) * topSpeed),
      yaw: RiderScale.yawRate.byte(0.5 * (right - left) * topYawRate), on: &port)
  }

  /// Stops the board by setting both speeds to neutral, which is 127.
  @_noLocks @_noAllocation
  public func stop(on port: inout SerialPort) throws(SerialError) {
    try command(forward: 127, yaw: 127, on: &port)
  }

  /// Sets the height of the body to 60…120 mm. Heights beyond are clamped; NaN traps.
  @_noLocks @_noAllocation
  public func raise(millimetres: Double, on port: inout SerialPort) throws(SerialError) {
    try write(RiderScale.height.byte(millimetres), to: .height, on: &port)
  }

  /// Switches the levelling of the body's roll by the board's IMU on or off.
  @_noLocks @_noAllocation
  public func balance(isOn: Bool, on port: inout SerialPort) throws(SerialError) {
    try write(isOn ? 1 : 0, to: .balance, on: &port)
  }

  @_noLocks @_noAllocation
  private func write(_ byte: UInt8, to address: XGOAddress, on port: inout SerialPort) throws(SerialError) {
    var bytes = [40 of UInt8](repeating: 0)
    let count = put(XGOFrame.write(byte, to: address), into: &bytes, at: 0)
    try send(&bytes, count, on: &port)
  }

  /// Requests a quantity, which `poll` returns. A request that is still open is replaced.
  @_noLocks @_noAllocation
  public mutating func request(_ quantity: Quantity, on port: inout SerialPort) throws(SerialError) {
    reader.reset()
    asked = nil
    let frame = XGOFrame.read(quantity.count, from: quantity.address)
    var bytes = [40 of UInt8](repeating: 0)
    let count = put(frame, into: &bytes, at: 0)
    try send(&bytes, count, on: &port)
    asked = Question(quantity: quantity, at: port.now)
  }

  /// Reads the bytes that have arrived. Returns a reply or a timeout once, and otherwise `nil`.
  @_noLocks @_noAllocation
  public mutating func poll(on port: inout SerialPort) throws(SerialError) -> Reply? {
    var bytes = [64 of UInt8](repeating: 0)
    let count = try receive(&bytes, from: &port)
    var reply: Reply?
    for index in 0..<count {
      reader.append(bytes[index])
      while let frame = reader.next() {
        guard let question = asked, let found = Reply(frame, to: question.quantity) else { continue }
        asked = nil
        reply = found
      }
    }
    if let question = asked, port.now - question.at >= replyTimeout {
      asked = nil
      reply = .timedOut(question.quantity)
    }
    return reply
  }

  /// Whether a request is unanswered. The next one may be made once it is answered or has timed out.
  public var isAsked: Bool {
    @_noLocks @_noAllocation get {
      if case .some = asked { return true }
      return false
    }
  }

  /// The instant of the reply's timeout, at which `poll` must be called even if nothing else happens, or `nil` if no request is open.
  public var nextDeadline: TickInstant? {
    @_noLocks @_noAllocation get {
      guard let asked else { return nil }
      return asked.at + replyTimeout
    }
  }

  /// Returns a speed as a share of −1…1.
  @_noLocks @_noAllocation
  private func share(_ speed: Percent) -> Double {
    if speed.value >= 100 { return 1 }
    if speed.value <= -100 { return -1 }
    return speed.value == speed.value ? speed.value / 100 : 0
  }

  /// Sends both frames in one write.
  @_noLocks @_noAllocation
  private func command(forward: UInt8, yaw: UInt8, on port: inout SerialPort) throws(SerialError) {
    var bytes = [40 of UInt8](repeating: 0)
    var count = put(XGOFrame.write(forward, to: .forwardSpeed), into: &bytes, at: 0)
    count = put(XGOFrame.write(yaw, to: .yawRate), into: &bytes, at: count)
    try send(&bytes, count, on: &port)
  }

  /// Puts a frame into the bytes at `start`. Returns the number of bytes up to its end.
  @_noLocks @_noAllocation
  private func put(_ frame: XGOFrame, into bytes: inout [40 of UInt8], at start: Int) -> Int {
    for index in 0..<frame.count { bytes[start + index] = frame[index] }
    return start + frame.count
  }

  @_noLocks @_noAllocation
  private func send(
    _ bytes: UnsafePointer<[40 of UInt8]>, _ count: Int, on port: inout SerialPort
  ) throws(SerialError) {
    try port.write(UnsafeRawBufferPointer(start: bytes, count: count))
  }

  @_noLocks @_noAllocation
  private func receive(
    _ bytes: UnsafeMutablePointer<[64 of UInt8]>, from port: inout SerialPort
  ) throws(SerialError) -> Int {
    try port.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: 64))
  }
}
