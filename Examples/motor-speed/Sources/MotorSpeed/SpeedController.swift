import Tactus
import TactusControl

public enum SpeedCommand: BitwiseCopyable, Sendable {
  /// Turn this fast, rad/s. To be repeated: 200 ms after the last one the motor has no voltage.
  case turn(Double)
  /// The way out of a fault.
  case reset
}

public enum SpeedState: BitwiseCopyable, Sendable, Equatable {
  /// No voltage: nobody asks for a speed.
  case stopped
  case turning
  /// No voltage until a reset, whatever is asked for.
  case fault(SpeedFault)
}

public enum SpeedFault: BitwiseCopyable, Sendable, Equatable {
  /// Full voltage for 300 ms, and the shaft does not turn.
  case stalled
  /// The serial line does not work, or the board has not answered for 20 ms.
  case lineLost
  /// The loop could not keep its times.
  case late
}

/// Decides the motor's voltage, and does nothing else: it has no port and no clock. Stepped once a millisecond.
public struct SpeedController: BitwiseCopyable, Sendable {
  public private(set) var state = SpeedState.stopped
  private var pid: PID
  private var ramp: RateLimiter
  private var smooth: LowPass
  private var deadman = Deadman(timeout: .milliseconds(200))
  private var stall = Deadman(timeout: .milliseconds(300))
  private var target = 0.0

  /// Full voltage, V.
  public static var supply: Double { @_noLocks @_noAllocation get { 12 } }

  public init() throws(ControlSettingError) {
    let sample = Nanoseconds.milliseconds(1)
    pid = PID(
      try PIDSettings(
        proportional: 0.05, integral: 0.8, minimumOutput: -Self.supply, maximumOutput: Self.supply, sampleTime: sample))
    ramp = try RateLimiter(rising: 1_000, sampleTime: sample)
    smooth = try LowPass(cutoff: 60, sampleTime: sample)
  }

  /// The instant at which silence cuts the voltage; `nil` while the motor has no voltage.
  public var nextDeadline: TickInstant? { @_noLocks @_noAllocation get { deadman.expiresAt } }

  @_noLocks @_noAllocation
  public mutating func obey(_ command: SpeedCommand, at now: TickInstant) {
    switch (command, state) {
    case (.turn, .fault), (.reset, .stopped), (.reset, .turning): break
    case (.reset, .fault): state = .stopped
    case (.turn(let speed), .stopped), (.turn(let speed), .turning):
      if case .stopped = state { stall.feed(at: now) }
      deadman.feed(at: now)
      (state, target) = (.turning, speed)
    }
  }

  /// The voltage for this millisecond, −12…12 V, of a shaft that was measured to turn at `speed`, rad/s.
  @_noLocks @_noAllocation
  public mutating func step(speed: Double, at now: TickInstant) -> Double {
    let speed = smooth.step(speed)
    if deadman.hasExpired(at: now) { rest(.stopped) }
    guard case .turning = state else { return 0 }
    let voltage = pid.step(setpoint: ramp.step(toward: target), measurement: speed)
    if voltage.magnitude < Self.supply || speed.magnitude > 5 { stall.feed(at: now) }
    guard stall.hasExpired(at: now) else { return voltage }
    rest(.fault(.stalled))
    return 0
  }

  /// No voltage from now on. Whatever comes next begins at a standstill.
  @_noLocks @_noAllocation
  public mutating func rest(_ state: SpeedState) {
    self.state = state
    deadman.disarm()
    stall.disarm()
    pid.reset()
    ramp.jump(to: 0)
  }
}
