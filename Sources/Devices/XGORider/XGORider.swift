import Buses
import Tactus
import Wire

/// The XGO-Rider balance board of the Rider-Pi, on a UART at 115,200 8N1.
///
/// It balances by itself and is told a forward speed and a turn rate. A small value that takes the line per call; what it
/// remembers is a battery request and the reply's beginning. The board keeps the last command: write it again and again,
/// and stop it before going away. Errors: `full` when the line did not take all (the board drops the cut frame and the
/// next call is whole again), `gone`. Timing: one write of 18 bytes a command, never blocks.
/// Source: README.md beside this file.
public struct XGORider: Sendable, BitwiseCopyable {
  /// What came of a battery request.
  public enum BatteryReply: Sendable, Hashable, BitwiseCopyable {
    /// 0…100 %.
    case charge(Percent)
    /// Nothing valid within `replyTimeout`.
    case timedOut
  }

  /// Forward speed of 100 % on both wheels, in m/s, 0…1.5.
  public let topSpeed: Double
  /// Turn rate of +100 % against −100 %, in degrees per second, 0…360.
  public let topYawRate: Double
  /// How long the board may take to answer.
  public let replyTimeout: Nanoseconds
  private var reader = XGOFrameReader()
  private var batteryAskedAt: TickInstant?

  /// Limits beyond the board's own are our bug.
  public init(
    topSpeed: Double = 1.5, topYawRate: Double = 360, replyTimeout: Nanoseconds = Nanoseconds(1_000_000_000)
  ) {
    precondition((0...1.5).contains(topSpeed) && (0...360).contains(topYawRate) && replyTimeout > .zero)
    self.topSpeed = topSpeed
    self.topYawRate = topYawRate
    self.replyTimeout = replyTimeout
  }

  /// Forward speed (L + R)/2, turn rate (R − L)/2, left positive. A speed that is not a number counts as zero.
  @_noLocks @_noAllocation
  public func drive(_ speeds: WheelSpeeds, on port: inout SerialPort) throws(SerialError) {
    let left = share(speeds.left)
    let right = share(speeds.right)
    try command(
      forward: RiderScale.forwardSpeed.byte(0.5 * (left + right) * topSpeed),
      yaw: RiderScale.yawRate.byte(0.5 * (right - left) * topYawRate), on: &port)
  }

  /// Both neutral: 127.
  @_noLocks @_noAllocation
  public func stop(on port: inout SerialPort) throws(SerialError) {
    try command(forward: 127, yaw: 127, on: &port)
  }

  /// Asks for the battery's charge; `poll` gives the reply. A request that is still open is replaced.
  @_noLocks @_noAllocation
  public mutating func requestBattery(on port: inout SerialPort) throws(SerialError) {
    reader.reset()
    let frame = XGOFrame.read(1, from: .battery)
    var bytes = [40 of UInt8](repeating: 0)
    let count = put(frame, into: &bytes, at: 0)
    try send(&bytes, count, on: &port)
    batteryAskedAt = port.now
  }

  /// Reads what has arrived; a reply or its absence is told once, nil while there is nothing to tell.
  @_noLocks @_noAllocation
  public mutating func poll(on port: inout SerialPort) throws(SerialError) -> BatteryReply? {
    var bytes = [64 of UInt8](repeating: 0)
    let count = try receive(&bytes, from: &port)
    var reply: BatteryReply?
    for index in 0..<count {
      reader.append(bytes[index])
      while let frame = reader.next() {
        guard case .some = batteryAskedAt, frame.address == .battery, frame.dataCount == 1, frame.data(0) <= 100 else {
          continue
        }
        batteryAskedAt = nil
        reply = .charge(Percent(Double(frame.data(0))))
      }
    }
    if let askedAt = batteryAskedAt, port.now - askedAt >= replyTimeout {
      batteryAskedAt = nil
      reply = .timedOut
    }
    return reply
  }

  /// When `poll` must be called even if nothing else happens: the reply's time-out.
  public var nextDeadline: TickInstant? {
    @_noLocks @_noAllocation get {
      guard let batteryAskedAt else { return nil }
      return batteryAskedAt + replyTimeout
    }
  }

  /// −1…1.
  @_noLocks @_noAllocation
  private func share(_ speed: Percent) -> Double {
    if speed.value >= 100 { return 1 }
    if speed.value <= -100 { return -1 }
    return speed.value == speed.value ? speed.value / 100 : 0
  }

  /// Both frames in one write.
  @_noLocks @_noAllocation
  private func command(forward: UInt8, yaw: UInt8, on port: inout SerialPort) throws(SerialError) {
    var bytes = [40 of UInt8](repeating: 0)
    var count = put(XGOFrame.write(forward, to: .forwardSpeed), into: &bytes, at: 0)
    count = put(XGOFrame.write(yaw, to: .yawRate), into: &bytes, at: count)
    try send(&bytes, count, on: &port)
  }

  /// Returns the count of bytes after it.
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
