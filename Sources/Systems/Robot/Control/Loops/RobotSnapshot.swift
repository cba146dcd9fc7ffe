import Tactus
import Wire

/// Counts of the loop since its start.
public struct RobotCounters: Sendable, BitwiseCopyable {
  /// The number of datagrams received, valid or not.
  public internal(set) var datagrams: Int64 = 0
  /// The number of datagrams that could not be decoded.
  public internal(set) var malformed: Int64 = 0
  /// The number of CSV datagrams whose speeds contradict their direction field.
  public internal(set) var directionMismatches: Int64 = 0
  /// The number of commands, stops, e-stops and resets that the machine accepted.
  public internal(set) var accepted: Int64 = 0
  /// The number of replies sent.
  public internal(set) var replies: Int64 = 0
  /// The number of replies not sent because the kernel's buffer was full or the source had had a reply within 20 ms.
  public internal(set) var repliesDropped: Int64 = 0
  /// The number of motor writes that the board accepted.
  public internal(set) var writes: Int64 = 0
  /// The number of motor writes that failed after their retries.
  public internal(set) var writeFailures: Int64 = 0
  /// The number of readings of the distance ahead that failed on the bus.
  public internal(set) var distanceFailures: Int64 = 0
  /// The number of readings of the line sensor that failed on the bus.
  public internal(set) var lineFailures: Int64 = 0
  /// The number of writes to the camera mount, the lights, the buzzer, the height or the balance that failed after
  /// their retries.
  public internal(set) var fittingFailures: Int64 = 0
  private var ignoredByReason: [22 of Int64]

  @_noLocks @_noAllocation
  init() { ignoredByReason = .init(repeating: 0) }

  /// Returns the number of commands, stops, e-stops and resets that were ignored for a reason.
  @_noLocks @_noAllocation
  public func ignored(_ reason: IgnoreReason) -> Int64 { ignoredByReason[reason.index] }

  /// The number of commands, stops, e-stops and resets ignored for any reason.
  public var ignored: Int64 { IgnoreReason.allCases.reduce(0) { $0 + ignored($1) } }

  @_noLocks @_noAllocation
  mutating func count(_ verdict: Verdict) {
    switch verdict {
    case .accepted: accepted &+= 1
    case .ignored(let reason): ignoredByReason[reason.index] &+= 1
    }
  }
}

/// The robot's state at the end of a tick, as published to other threads.
public struct RobotSnapshot: Sendable, BitwiseCopyable {
  /// The instant of the tick that published the snapshot.
  public internal(set) var at = TickInstant(nanoseconds: 0)
  public internal(set) var state: RobotState
  public internal(set) var settings: RobotSettings
  public internal(set) var counters = RobotCounters()
  /// The reason why the most recent failed motor write failed, or `nil` if no write has failed since the start.
  public internal(set) var lastFailure: MotorFailure?
  /// The reason why the most recent malformed datagram was rejected, or `nil` if none has been rejected since the start.
  public internal(set) var lastMalformed: DatagramError?
  /// The number of bus transfers that succeeded only after a retry.
  public internal(set) var retries: Int64 = 0
  /// The battery's charge and the attitude, as far as the robot can measure them.
  public internal(set) var board = BoardReadings()
  /// The last reading of the distance ahead, or `nil` if the sensor has given none or the settings do not watch the distance.
  public internal(set) var ahead: DistanceReading?
  /// The last reading of the line sensor, or `nil` if there has been none or the sensor is not read.
  public internal(set) var line: LineReading?
  /// The fittings of the board, with the values written to them.
  public internal(set) var fittings: Fittings
  /// The dead reckoning from the commanded speeds up to `at`. It stays at the origin without a geometry.
  public internal(set) var odometry = RobotOdometry()

  /// Creates the snapshot that holds before the first tick.
  public init(_ settings: RobotSettings, fittings: Fittings = Fittings(.ybPcbCar)) {
    self.fittings = fittings
    let machine = RobotMachine(settings)
    state = machine.state
    self.settings = settings
  }

  /// The speeds that the motors are set to; zero unless the robot is driving.
  public var speeds: WheelSpeeds {
    @_noLocks @_noAllocation get { state.speeds }
  }

  /// The speeds that the controlling source asked for, or `nil` unless the robot is driving.
  public var target: WheelSpeeds? { state.target }

  /// The controlling source and the time of its last command, or `nil` while control is free.
  public var holder: Holder? { state.holder }

  /// The time from the controlling source's last accepted command to `at`, or `nil` while control is free.
  public var age: Nanoseconds? {
    guard let holder else { return nil }
    return at - holder.lastCommand
  }

  public var isEmergencyStopped: Bool {
    if case .emergencyStopped = state { true } else { false }
  }
}
