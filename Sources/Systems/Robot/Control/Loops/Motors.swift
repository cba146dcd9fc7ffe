import Buses
import Devices
import Tactus
import Wire

/// Which way round each motor is wired.
public struct WheelInversion: Sendable, Hashable, BitwiseCopyable {
  public var left: Bool
  public var right: Bool

  public init(left: Bool = false, right: Bool = false) {
    self.left = left
    self.right = right
  }
}

/// The motors of one robot: a board's driver, the bus or line it is on, and the wiring.
///
/// Not copyable: one robot, one owning loop. Allocates nothing. Timing: what the driver says; at worst, on a stuck bus, one
/// time-out of the bus a call.
public struct Motors: ~Copyable {
  private enum Driver: BitwiseCopyable {
    case ybPcbCar(YBPcbCar)
    case raspbotV2(RaspbotV2)
    case xgoRider(XGORider)
  }
  private let driver: Driver
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

  /// Transfers that succeeded only after a retry, since the start.
  public var retries: Int64 {
    @_noLocks @_noAllocation get {
      switch bus {
      case .some(let bus): bus.retries
      case nil: 0
      }
    }
  }

  /// Tells the port which tick it works for. To be called at the start of every tick.
  @_noLocks @_noAllocation
  public mutating func begin(at now: TickInstant) {
    bus?.now = now
    line?.now = now
  }

  /// −100…100 % each wheel.
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

/// See `prepareDriversToThrow`; also what the decoder throws.
@inline(never) @_optimize(none)
private func prepareToThrow() {
  prepareDriversToThrow()
  do throws(MotorFailure) { throw MotorFailure(.system, code: 0) } catch {}
  _ = try? RobotMessage.decode(UnsafeRawBufferPointer(start: nil, count: 0))
}
