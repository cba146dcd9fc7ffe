import Buses
import Tactus
import TactusControl

/// What the loop says of itself, once a tick: speed in rad/s, voltage in V.
public struct SpeedReport: BitwiseCopyable, Sendable {
  public var state = SpeedState.stopped, speed = 0.0, voltage = 0.0
  public init() {}
}

/// Joins the controller to a motor board on a serial line. One signed byte goes out, the voltage in 127ths of the supply; one
/// comes back, by how many of the encoder's 1,024 steps a turn the shaft has moved since the last answer.
public struct SpeedLoop: ~Copyable, ControlLoop {
  private var controller: SpeedController
  private var line: SerialPort
  private var commands: RingReader<SpeedCommand>
  private var published: LatestWriter<SpeedReport>
  private var report = SpeedReport()
  private var answered = Deadman(timeout: .milliseconds(20))
  /// When the board was told the last two voltages: its next answer is about the time between.
  private var told: (before: TickInstant?, last: TickInstant?)

  public init(
    _ controller: SpeedController, line: consuming SerialPort, commands: consuming RingReader<SpeedCommand>,
    published: consuming LatestWriter<SpeedReport>
  ) {
    self.controller = controller
    self.line = line
    self.commands = commands
    self.published = published
  }

  public var nextDeadline: TickInstant? { @_noLocks @_noAllocation get { controller.nextDeadline } }

  @_noLocks @_noAllocation
  public mutating func tick(_ tick: Tick) {
    line.now = tick.started
    while let command = commands.pop() { controller.obey(command, at: tick.started) }
    do throws(SerialError) {
      try measure(at: tick.started)
      if answered.hasExpired(at: tick.started) { controller.rest(.fault(.lineLost)) }
      try send(controller.step(speed: report.speed, at: tick.started))
    } catch {
      controller.rest(.fault(.lineLost))
    }
    report.state = controller.state
    published.write(report)
  }

  @_noLocks @_noAllocation
  public mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    line.now = tick.started
    controller.rest(.fault(.late))
    try? send(0)
  }

  @_noLocks @_noAllocation
  private mutating func measure(at now: TickInstant) throws(SerialError) {
    var steps: Int?
    while let byte = try line.read() { steps = (steps ?? 0) &+ Int(Int8(bitPattern: byte)) }
    if let steps, let before = told.before, let last = told.last, before < last {
      report.speed = Double(steps) / 1_024 * 2 * .pi / (last - before).inSeconds
    }
    if steps != nil || answered.fedAt == nil { answered.feed(at: now) }
  }

  @_noLocks @_noAllocation
  private mutating func send(_ voltage: Double) throws(SerialError) {
    report.voltage = voltage
    let share = Math.integer(voltage / SpeedController.supply * 127) ?? 0
    try line.write(UInt8(bitPattern: Int8(clamping: share)))
    told = (told.last, line.now)
  }
}
