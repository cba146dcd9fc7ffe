import Buses
@_spi(FromOutside) import Conversions
import Synchronization
import Tactus

/// A simulated XGO-Rider board with a robot, which never falls over.
///
/// Attach `device` to a `SimulatedSerialPort`, which retains the simulator. The board finds frames in the bytes that arrive, drops
/// cut frames and noise, keeps the last command for ever, and immediately answers reads of the battery, the firmware, the measured
/// roll, pitch and yaw, and single registers.
// Safe: the rule of `SimulatedVehicle`; the charge is atomic.
public final class XGORiderSimulator: @unchecked Sendable {
  /// The robot that the board drives, with its snapshot and its placement.
  public let vehicle: SimulatedVehicle
  private let state: UnsafeMutablePointer<XGORiderSimulatorState>
  /// The battery's charge. It is not reached through `state`, which the board may be changing.
  private let battery: UnsafeMutablePointer<Atomic<UInt8>>
  /// Roll and pitch as bits of a `Float`. Neither they nor `isSilent` are reached through `state`, which the board may
  /// be changing.
  private let angles: UnsafeMutablePointer<Atomic<UInt32>>
  private let isSilent: UnsafeMutablePointer<Atomic<Bool>>

  /// The properties of the robot: 1.5 m/s, no stall (the board controls its speed), a track of 0.12 m.
  public static var parameters: DifferentialDrive.Parameters {
    var parameters = DifferentialDrive.Parameters()
    parameters.topSpeed = 1.5
    parameters.stallDuty = 0
    return parameters
  }

  /// Creates a board that has had no command, with a robot at rest at the origin.
  public init(parameters: DifferentialDrive.Parameters = parameters) {
    vehicle = SimulatedVehicle(parameters)
    battery = .allocate(capacity: 1)
    battery.initialize(to: Atomic(80))
    angles = .allocate(capacity: 2)
    for index in 0..<2 { (angles + index).initialize(to: Atomic(0)) }
    isSilent = .allocate(capacity: 1)
    isSilent.initialize(to: Atomic(false))
    state = .allocate(capacity: 1)
    state.initialize(
      to: XGORiderSimulatorState(body: vehicle.body, battery: battery, angles: angles, isSilent: isSilent))
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
    battery.deallocate()
    angles.deallocate()
    isSilent.deallocate()
    vehicle.deallocate()
  }

  /// The device to be attached to a `SimulatedSerialPort`.
  public var device: SimulatedSerialDevice {
    SimulatedSerialDevice(context: state, owner: self, serve: serveXGORider)
  }

  /// The battery's charge, 0…100 %, which is 80 at first. The value may be used from any thread.
  public var batteryPercent: UInt8 {
    get { battery.pointee.load(ordering: .relaxed) }
    set {
      precondition(newValue <= 100)
      battery.pointee.store(newValue, ordering: .relaxed)
    }
  }

  /// The measured roll in degrees, which is 0 at first. The value may be used from any thread.
  public var rollDegrees: Float {
    get { Float(bitPattern: angles[0].load(ordering: .relaxed)) }
    set { angles[0].store(newValue.bitPattern, ordering: .relaxed) }
  }

  /// The measured pitch in degrees, which is 0 at first. The value may be used from any thread.
  public var pitchDegrees: Float {
    get { Float(bitPattern: angles[1].load(ordering: .relaxed)) }
    set { angles[1].store(newValue.bitPattern, ordering: .relaxed) }
  }

  /// Whether the board leaves reads unanswered. Commands are obeyed all the same. The value may be used from any thread.
  public var leavesReadsUnanswered: Bool {
    get { isSilent.pointee.load(ordering: .relaxed) }
    set { isSilent.pointee.store(newValue, ordering: .relaxed) }
  }
}

struct XGORiderSimulatorState: ~Copyable {
  let body: UnsafeMutablePointer<VehicleBody>
  private let battery: UnsafeMutablePointer<Atomic<UInt8>>
  private let angles: UnsafeMutablePointer<Atomic<UInt32>>
  private let isSilent: UnsafeMutablePointer<Atomic<Bool>>
  private var reader = XGOFrameReader()
  /// The registers as written. The speeds are 128 at rest.
  private var registers = [256 of UInt8](repeating: 0)

  init(
    body: UnsafeMutablePointer<VehicleBody>, battery: UnsafeMutablePointer<Atomic<UInt8>>,
    angles: UnsafeMutablePointer<Atomic<UInt32>>, isSilent: UnsafeMutablePointer<Atomic<Bool>>
  ) {
    self.body = body
    self.battery = battery
    self.angles = angles
    self.isSilent = isSilent
    registers[0x30] = 128
    registers[0x32] = 128
  }

  @_noLocks @_noAllocation
  mutating func serve(_ line: SimulatedSerialDevice.Line, at instant: TickInstant) {
    body.pointee.world.advance(to: instant)
    var bytes = [64 of UInt8](repeating: 0)
    while true {
      let count = read(&bytes, from: line)
      guard count > 0 else { break }
      for index in 0..<count {
        reader.append(bytes[index])
        while let frame = reader.next() { handle(frame, line, at: instant) }
      }
    }
    body.pointee.publish()
  }

  @_noLocks @_noAllocation
  private func read(_ bytes: UnsafeMutablePointer<[64 of UInt8]>, from line: SimulatedSerialDevice.Line) -> Int {
    line.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: 64))
  }

  @_noLocks @_noAllocation
  private mutating func handle(_ frame: XGOFrame, _ line: SimulatedSerialDevice.Line, at instant: TickInstant) {
    switch frame.mode {
    case 0x01 where frame.dataCount > 0:
      for index in 0..<frame.dataCount {
        registers[Int(frame.address.value &+ UInt8(clamping: index))] = frame.data(index)
      }
      let last = frame.address.value &+ UInt8(clamping: frame.dataCount - 1)
      if frame.address.value <= 0x32, last >= 0x30 { run(at: instant) }
      if frame.address.value <= 0x35, last >= 0x35 {
        body.pointee.heightMillimetres = RiderScale.height.value(registers[0x35])
      }
      if frame.address.value <= 0x61, last >= 0x61 { body.pointee.isBalancing = registers[0x61] == 1 }
    case 0x02 where frame.dataCount == 1 && frame.data(0) > 0 && frame.data(0) <= 32:
      answer(frame.address, count: Int(frame.data(0)), line)
    default: body.pointee.ignored &+= 1
    }
  }

  @_noLocks @_noAllocation
  private mutating func run(at instant: TickInstant) {
    let forward = speed(RiderScale.forwardSpeed, registers[0x30])
    let yaw = speed(RiderScale.yawRate, registers[0x32]) * 0.017453292519943295
    let difference = 0.5 * yaw * body.pointee.world.parameters.track
    body.pointee.run(DifferentialDrive.Speeds(left: forward - difference, right: forward + difference), at: instant)
  }

  /// Returns the speed of a register byte. Both 127 and the table's idle value 128 stand for rest.
  @_noLocks @_noAllocation
  private func speed(_ scale: RiderScale, _ byte: UInt8) -> Double { byte == 128 ? 0 : scale.value(byte) }

  @_noLocks @_noAllocation
  private func answer(_ address: XGOAddress, count: Int, _ line: SimulatedSerialDevice.Line) {
    guard !isSilent.pointee.load(ordering: .relaxed) else { return }
    var reply = XGOFrame(mode: 0x12, address: address)
    switch (address.value, count) {
    case (0x01, 1): reply.append(battery.pointee.load(ordering: .relaxed))
    case (0x07, 10):
      let firmware: [10 of UInt8] = [0x52, 0x2D, 0x31, 0x2E, 0x34, 0x2E, 0x32, 0x20, 0x20, 0x20]  // "R-1.4.2   "
      for index in 0..<10 { reply.append(firmware[index]) }
    case (0x62, 4): reply.append(Float(bitPattern: angles[0].load(ordering: .relaxed)))
    case (0x63, 4): reply.append(Float(bitPattern: angles[1].load(ordering: .relaxed)))
    case (0x64, 4): reply.append(Float(body.pointee.world.pose.heading * 57.29577951308232))
    default: for index in 0..<count { reply.append(registers[Int(address.value &+ UInt8(clamping: index))]) }
    }
    var bytes = [40 of UInt8](repeating: 0)
    for index in 0..<reply.count { bytes[index] = reply[index] }
    send(&bytes, reply.count, line)
  }

  @_noLocks @_noAllocation
  private func send(_ bytes: UnsafePointer<[40 of UInt8]>, _ count: Int, _ line: SimulatedSerialDevice.Line) {
    line.write(UnsafeRawBufferPointer(start: bytes, count: count))
  }
}

@_noLocks @_noAllocation
private func serveXGORider(_ context: UnsafeMutableRawPointer, _ line: UnsafeMutableRawPointer, _ now: Int64) {
  context.assumingMemoryBound(to: XGORiderSimulatorState.self).pointee
    .serve(line.assumingMemoryBound(to: SimulatedSerialDevice.Line.self).pointee, at: TickInstant(nanoseconds: now))
}
