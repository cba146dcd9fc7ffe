import Buses
import Devices
import Tactus
import Wire

/// The motors that are wired with reversed polarity.
public struct WheelInversion: Sendable, Hashable, BitwiseCopyable {
  public var left: Bool
  public var right: Bool

  public init(left: Bool = false, right: Bool = false) {
    self.left = left
    self.right = right
  }
}

/// The motors of one robot: the board's driver, the bus or serial line to the board, and the wiring.
///
/// Not copyable, so that one loop alone drives a robot. Allocates nothing. Timing is that of the driver; a stuck bus costs at most one
/// bus timeout a call.
public struct Motors: ~Copyable {
  private enum Driver: BitwiseCopyable {
    case ybPcbCar(YBPcbCar)
    case raspbotV2(RaspbotV2)
    case xgoRider(XGORider)
  }
  private var driver: Driver
  private var bus: I2CBus?
  private var line: SerialPort?
  private let inversion: WheelInversion

  public init(_ board: YBPcbCar, on bus: consuming I2CBus, inversion: WheelInversion = WheelInversion()) {
    driver = .ybPcbCar(board)
    self.bus = consume bus
    line = nil
    self.inversion = inversion
    prepareToThrow()
  }

  public init(_ board: RaspbotV2, on bus: consuming I2CBus, inversion: WheelInversion = WheelInversion()) {
    driver = .raspbotV2(board)
    self.bus = consume bus
    line = nil
    self.inversion = inversion
    prepareToThrow()
  }

  public init(_ board: XGORider, on line: consuming SerialPort, inversion: WheelInversion = WheelInversion()) {
    driver = .xgoRider(board)
    bus = nil
    self.line = consume line
    self.inversion = inversion
    prepareToThrow()
  }

  /// The number of transfers since the start that succeeded only after a retry.
  public var retries: Int64 {
    @_noLocks @_noAllocation get {
      switch bus {
      case .some(let bus): bus.retries
      case nil: 0
      }
    }
  }

  /// Gives the bus or serial port the instant of the current tick. The function must be called at the start of every tick.
  @_noLocks @_noAllocation
  public mutating func begin(at now: TickInstant) {
    bus?.now = now
    line?.now = now
  }

  /// Sets the wheel speeds, −100…100 % each.
  @_noLocks @_noAllocation
  public mutating func drive(_ speeds: WheelSpeeds) throws(MotorFailure) {
    let wired = WheelSpeeds(
      left: inversion.left ? -speeds.left : speeds.left, right: inversion.right ? -speeds.right : speeds.right)
    switch driver {
    case .ybPcbCar(let board):
      do { try board.drive(wired, on: &bus!) } catch { throw MotorFailure(error) }
    case .raspbotV2(let board):
      do { try board.drive(wired, on: &bus!) } catch { throw MotorFailure(error) }
    case .xgoRider(let board):
      do { try board.drive(wired, on: &line!) } catch { throw MotorFailure(error) }
    }
  }

  /// The kind of the board that drives the motors.
  public var board: RobotBoard {
    @_noLocks @_noAllocation get {
      switch driver {
      case .ybPcbCar: .ybPcbCar
      case .raspbotV2: .raspbotV2
      case .xgoRider: .xgoRider
      }
    }
  }

  /// Whether the board can be asked for its battery and attitude.
  var canBeAsked: Bool {
    @_noLocks @_noAllocation get {
      if case .xgoRider = driver { return true }
      return false
    }
  }

  /// Whether a request to the board is unanswered.
  var isAsked: Bool {
    @_noLocks @_noAllocation get {
      if case .xgoRider(let board) = driver { return board.isAsked }
      return false
    }
  }

  /// Requests a quantity of the board. A request that the line does not accept is dropped, because the next write to the motors will report
  /// the failure of the line.
  @_noLocks @_noAllocation
  mutating func ask(_ quantity: XGORider.Quantity) {
    guard case .xgoRider(var board) = driver else { return }
    do { try board.request(quantity, on: &line!) } catch {}
    driver = .xgoRider(board)
  }

  /// Returns the board's reply or its timeout once, and otherwise `nil`. Never blocks.
  @_noLocks @_noAllocation
  mutating func reply() -> XGORider.Reply? {
    guard case .xgoRider(var board) = driver else { return nil }
    var reply: XGORider.Reply?
    do { reply = try board.poll(on: &line!) } catch {}
    driver = .xgoRider(board)
    return reply
  }

  /// Switches on the sensor of the distance ahead. Does nothing on a board without one.
  @_noLocks @_noAllocation
  mutating func switchDistanceSensorOn() throws(MotorFailure) {
    guard case .raspbotV2(let board) = driver else { return }
    do { try board.switchDistanceSensor(isOn: true, on: &bus!) } catch { throw MotorFailure(error) }
  }

  /// Returns the distance to the nearest thing ahead in millimetres, or `nil` if the sensor has none or the board has no sensor.
  @_noLocks @_noAllocation
  mutating func distanceAhead() throws(MotorFailure) -> Int? {
    guard case .raspbotV2(let board) = driver else { return nil }
    do { return try board.distanceAhead(on: &bus!) } catch { throw MotorFailure(error) }
  }

  /// Returns the probes of the line sensor, or `nil` if its answer is invalid or the board has no line sensor.
  @_noLocks @_noAllocation
  mutating func lineProbes() throws(MotorFailure) -> LineProbes? {
    guard case .raspbotV2(let board) = driver else { return nil }
    do { return try board.line(on: &bus!) } catch { throw MotorFailure(error) }
  }

  /// Makes one write to a fitting of the board. Does nothing on a board without that fitting.
  @_noLocks @_noAllocation
  mutating func fit(_ write: FittingWrite) throws(MotorFailure) {
    switch driver {
    case .ybPcbCar(let board):
      do {
        switch write {
        case .pan(_, let wired): try board.turn(.pan, degrees: Double(wired), on: &bus!)
        case .tilt(_, let wired): try board.turn(.tilt, degrees: Double(wired), on: &bus!)
        case .allLights, .light, .buzzer, .height, .balance: break
        }
      } catch { throw MotorFailure(error) }
    case .raspbotV2(let board):
      do {
        switch write {
        case .pan(_, let wired): try board.turn(.pan, degrees: Double(wired), on: &bus!)
        case .tilt(_, let wired): try board.turn(.tilt, degrees: Double(wired), on: &bus!)
        case .allLights(let colour): try board.light(colour, on: &bus!)
        case .light(let number, let colour): try board.light(number, colour, on: &bus!)
        case .buzzer(let isOn): try board.switchBuzzer(isOn: isOn, on: &bus!)
        case .height, .balance: break
        }
      } catch { throw MotorFailure(error) }
    case .xgoRider(let board):
      do {
        switch write {
        case .height(let millimetres): try board.raise(millimetres: millimetres, on: &line!)
        case .balance(let isOn): try board.balance(isOn: isOn, on: &line!)
        case .pan, .tilt, .allLights, .light, .buzzer: break
        }
      } catch { throw MotorFailure(error) }
    }
  }

  @_noLocks @_noAllocation
  public mutating func stop() throws(MotorFailure) {
    switch driver {
    case .ybPcbCar(let board):
      do { try board.stop(on: &bus!) } catch { throw MotorFailure(error) }
    case .raspbotV2(let board):
      do { try board.stop(on: &bus!) } catch { throw MotorFailure(error) }
    case .xgoRider(let board):
      do { try board.stop(on: &line!) } catch { throw MotorFailure(error) }
    }
  }
}

extension MotorFailure {
  @_noLocks @_noAllocation
  init(_ error: I2CError) {
    switch error {
    case .noAcknowledge: self.init(.noAcknowledge)
    case .arbitrationLost: self.init(.arbitrationLost)
    case .timedOut: self.init(.timedOut)
    case .system(let errno, _, _): self.init(.system, code: errno)
    }
  }

  @_noLocks @_noAllocation
  init(_ error: SerialError) {
    switch error {
    case .full: self.init(.serialFull)
    case .gone: self.init(.serialGone)
    case .system(let errno): self.init(.system, code: errno)
    }
  }
}

/// Prepares the errors of the drivers and of the decoder, so that throwing one later does not allocate; see `prepareDriversToThrow`.
@inline(never) @_optimize(none)
private func prepareToThrow() {
  prepareDriversToThrow()
  do throws(MotorFailure) { throw MotorFailure(.system, code: 0) } catch {}
  _ = try? RobotMessage.decode(UnsafeRawBufferPointer(start: nil, count: 0))
}
