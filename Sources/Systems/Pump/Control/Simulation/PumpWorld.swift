import Buses
@_spi(FromOutside) import Conversions
import Synchronization
import Tactus

/// The physical surroundings of a pump: water, a body, thermistors, a motor, a button and a potentiometer, and their behaviour over time.
///
/// One loop uses the motor output and the inputs; any thread may use faults and readings. It must outlive its ports. Deterministic: the world
/// advances in steps of 100 ms from its first instant, whichever thread calls.
public final class PumpWorld: Sendable {
  /// The parameters of the world, in physical units.
  public struct Parameters: Sendable, BitwiseCopyable {
    /// The initial temperature of the water, in °C.
    public var waterCelsius = 12.0
    /// The initial temperature of the skin, in °C.
    public var skinCelsius = 36.0
    /// The temperature to which the skin tends without cooling, in °C.
    public var bodyCelsius = 36.5
    /// The temperature of the room, to which the water tends, in °C.
    public var roomCelsius = 22.0
    /// The rate at which the skin approaches the temperature of the body, 1/s.
    public var bodyRate = 1 / 300.0
    /// The rate at which the water approaches the temperature of the room, 1/s.
    public var roomRate = 1 / 3_600.0
    /// The rate at which the water cools the skin at full flow, as a part of their difference, 1/s.
    public var coolingRate = 0.000_54
    /// The rate at which the skin warms the water at full flow, as a part of their difference, 1/s.
    public var warmingRate = 0.000_15
    public var hasWaterSensor = true
    public var hasSkinSensor = true
    public var hasPot = false

    @_noLocks @_noAllocation
    public init() {}
  }

  /// A fault that can be simulated.
  public enum Fault: UInt8, Sendable, Hashable, BitwiseCopyable, CaseIterable {
    case waterSensorOpen
    case waterSensorShorted
    case skinSensorOpen
    case skinSensorShorted
    /// The motor turns but no water flows.
    case dryRun
    /// The motor does not turn.
    case stuck
    /// The inputs do not answer.
    case inputsGone
    /// The motor's output rejects every write and keeps its last value.
    case outputGone

    var bit: UInt64 {
      @_noLocks @_noAllocation get { 1 << UInt64(rawValue) }
    }
  }

  /// The state of the world at one instant.
  public struct Reading: Sendable, Hashable {
    public var waterCelsius: Double
    public var skinCelsius: Double
    /// The duty of the motor.
    public var duty: PumpSpeed
    /// The flow of the water, 0…1.
    public var flow: Double
  }

  private let state: State

  public init(_ parameters: Parameters = Parameters()) { state = State(parameters) }

  deinit { state.deallocate() }

  public func motor() -> PWMOutput {
    PWMOutput(context: state.pointer, period: .nanoseconds(PumpWorldState.period), write: setMotor)
  }

  public func inputs() -> PumpInputs { PumpInputs(context: state.pointer, read: readInputs) }

  public func inject(_ fault: Fault) { state.pointer.pointee.faults.bitwiseOr(fault.bit, ordering: .relaxed) }
  public func clear(_ fault: Fault) { state.pointer.pointee.faults.bitwiseAnd(~fault.bit, ordering: .relaxed) }
  public func has(_ fault: Fault) -> Bool { state.pointer.pointee.has(fault) }

  /// Presses or releases the button.
  public func press(_ isPressed: Bool) { state.pointer.pointee.isPressed.store(isPressed, ordering: .relaxed) }
  /// Sets the potentiometer's position, 0…1023.
  public func turnPot(to counts: Int) { state.pointer.pointee.pot.store(counts, ordering: .relaxed) }
  /// Sets the temperature to which the skin tends, in °C, for example a fever or the room's temperature if there is no
  /// body.
  public func setBody(celsius: Double) {
    state.pointer.pointee.body.store(celsius.bitPattern, ordering: .relaxed)
  }

  /// Holds the skin at a temperature, in °C, regardless of cooling and warming, or releases it if `celsius` is `nil`.
  public func holdSkin(celsius: Double?) {
    state.pointer.pointee.heldSkin.store((celsius ?? .nan).bitPattern, ordering: .relaxed)
  }
  /// The temperature at which the skin is held, in °C, or `nil` if it is not held.
  public var heldSkinCelsius: Double? {
    let held = Double(bitPattern: state.pointer.pointee.heldSkin.load(ordering: .relaxed))
    return held.isNaN ? nil : held
  }

  /// The state of the world as of the loop's last access.
  public var reading: Reading {
    let state = state.pointer
    return Reading(
      waterCelsius: Double(bitPattern: state.pointee.water.load(ordering: .relaxed)),
      skinCelsius: Double(bitPattern: state.pointee.skin.load(ordering: .relaxed)),
      duty: PumpSpeed(duty: UInt8(truncatingIfNeeded: state.pointee.duty.load(ordering: .relaxed))),
      flow: state.pointee.flow)
  }

  private struct State: @unchecked Sendable {  // safe: atomics, and one loop's own numbers, at a fixed place
    let pointer: UnsafeMutablePointer<PumpWorldState>

    init(_ parameters: Parameters) {
      pointer = .allocate(capacity: 1)
      pointer.initialize(to: PumpWorldState(parameters))
    }

    func deallocate() {
      pointer.deinitialize(count: 1)
      pointer.deallocate()
    }
  }
}

struct PumpWorldState: ~Copyable {
  /// The period of the motor's PWM in nanoseconds: 1 kHz.
  static var period: Int64 {
    @_noLocks @_noAllocation get { 1_000_000 }
  }
  private static var step: Int64 {
    @_noLocks @_noAllocation get { 100_000_000 }
  }
  /// The smallest duty with which the motor turns.
  private static var least: Int64 {
    @_noLocks @_noAllocation get { 10 }
  }
  /// The largest number of steps made at once: after a day the world has come to rest.
  private static var mostSteps: Int64 {
    @_noLocks @_noAllocation get { 864_000 }
  }

  let parameters: PumpWorld.Parameters
  let faults = Atomic<UInt64>(0)
  let isPressed = Atomic<Bool>(false)
  let pot = Atomic<Int>(0)
  let body: Atomic<UInt64>
  /// The temperature at which the skin is held, or NaN if it is not held.
  let heldSkin = Atomic<UInt64>(Double.nan.bitPattern)
  let water: Atomic<UInt64>
  let skin: Atomic<UInt64>
  let duty = Atomic<Int64>(0)
  /// The instant that the world has reached in nanoseconds; used only by the loop.
  private var reached: Int64?

  init(_ parameters: PumpWorld.Parameters) {
    self.parameters = parameters
    body = Atomic(parameters.bodyCelsius.bitPattern)
    water = Atomic(parameters.waterCelsius.bitPattern)
    skin = Atomic(parameters.skinCelsius.bitPattern)
  }

  @_noLocks @_noAllocation
  func has(_ fault: PumpWorld.Fault) -> Bool { faults.load(ordering: .relaxed) & fault.bit != 0 }

  /// The flow of the water, 0…1.
  var flow: Double {
    @_noLocks @_noAllocation get {
      let duty = duty.load(ordering: .relaxed)
      return duty < Self.least || has(.dryRun) || has(.stuck) ? 0 : Double(duty) / 255
    }
  }

  @_noLocks @_noAllocation
  mutating func advance(to now: Int64) {
    guard var at = reached else {
      reached = now
      return
    }
    var water = Double(bitPattern: self.water.load(ordering: .relaxed))
    var skin = Double(bitPattern: self.skin.load(ordering: .relaxed))
    let body = Double(bitPattern: self.body.load(ordering: .relaxed))
    let flow = flow
    let seconds = Double(Self.step) / 1e9
    if now - at > Self.mostSteps * Self.step { at = now - Self.mostSteps * Self.step }
    while at + Self.step <= now {
      let exchanged = flow * (skin - water)
      skin += seconds * ((body - skin) * parameters.bodyRate - exchanged * parameters.coolingRate)
      water += seconds * ((parameters.roomCelsius - water) * parameters.roomRate + exchanged * parameters.warmingRate)
      at += Self.step
    }
    reached = at
    let held = Double(bitPattern: heldSkin.load(ordering: .relaxed))
    if !held.isNaN { skin = held }
    self.water.store(water.bitPattern, ordering: .relaxed)
    self.skin.store(skin.bitPattern, ordering: .relaxed)
  }

  @_noLocks @_noAllocation
  func sample() -> PumpSample {
    PumpSample(
      water: parameters.hasWaterSensor ? counts(water, open: .waterSensorOpen, short: .waterSensorShorted) : nil,
      skin: parameters.hasSkinSensor ? counts(skin, open: .skinSensorOpen, short: .skinSensorShorted) : nil,
      pot: parameters.hasPot ? pot.load(ordering: .relaxed) : nil,
      isButtonPressed: isPressed.load(ordering: .relaxed))
  }

  @_noLocks @_noAllocation
  private func counts(_ celsius: borrowing Atomic<UInt64>, open: PumpWorld.Fault, short: PumpWorld.Fault) -> Int {
    if has(open) { return 0 }
    if has(short) { return 1_023 }
    return PumpThermistor.counts(of: Double(bitPattern: celsius.load(ordering: .relaxed)))
  }
}

@_noLocks @_noAllocation
private func setMotor(_ context: UnsafeMutableRawPointer, _ active: Int64, _ now: Int64) -> Int32 {
  let state = context.assumingMemoryBound(to: PumpWorldState.self)
  state.pointee.advance(to: now)
  if state.pointee.has(.outputGone) { return -19 }  // ENODEV
  state.pointee.duty.store((active * 255 + PumpWorldState.period / 2) / PumpWorldState.period, ordering: .relaxed)
  return 0
}

@_noLocks @_noAllocation
private func readInputs(_ context: UnsafeMutableRawPointer, _ sample: UnsafeMutableRawPointer, _ now: Int64) -> Int32 {
  let state = context.assumingMemoryBound(to: PumpWorldState.self)
  state.pointee.advance(to: now)
  if state.pointee.has(.inputsGone) { return -5 }  // EIO
  var read = state.pointee.sample()
  read.temperaturesAt = TickInstant(nanoseconds: now)
  sample.assumingMemoryBound(to: PumpSample.self).pointee = read
  return 0
}
