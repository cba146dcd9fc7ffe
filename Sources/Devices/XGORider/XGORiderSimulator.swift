import Buses
import Synchronization
import Tactus

/// The XGO-Rider board with a robot on it; it never falls over.
///
/// Attach `device` to a `SimulatedSerialPort`, which keeps the simulator. The board finds frames in whatever arrives,
/// drops cut ones and noise, keeps the last command for ever, and answers reads of the battery, the firmware, the
/// measured yaw and of single registers at once.
// Safe: the rule of `SimulatedVehicle`; the charge is atomic.
public final class XGORiderSimulator: @unchecked Sendable {
  /// The robot that the board drives: its snapshot, and where it is put.
  public let vehicle: SimulatedVehicle
  private let state: UnsafeMutablePointer<XGORiderSimulatorState>
  /// Not reached through `state`, which the board may be changing.
  private let battery: UnsafeMutablePointer<Atomic<UInt8>>

  /// 1.5 m/s, no stall (the board controls its speed), a track of 0.12 m.
  public static var parameters: DifferentialDrive.Parameters {
    var parameters = DifferentialDrive.Parameters()
    parameters.topSpeed = 1.5
    parameters.stallDuty = 0
    return parameters
  }

  /// A board that has had no command, and a robot at rest at the origin.
  public init(parameters: DifferentialDrive.Parameters = parameters) {
    vehicle = SimulatedVehicle(parameters)
    battery = .allocate(capacity: 1)
    battery.initialize(to: Atomic(80))
    state = .allocate(capacity: 1)
    state.initialize(to: XGORiderSimulatorState(body: vehicle.body, battery: battery))
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
    battery.deallocate()
    vehicle.deallocate()
  }

  /// The end for a `SimulatedSerialPort`: attach it there.
  public var device: SimulatedSerialDevice {
    SimulatedSerialDevice(context: state, owner: self, serve: serveXGORider)
  }

  /// 0…100 %, 80 at first. Any thread.
  public var batteryPercent: UInt8 {
    get { battery.pointee.load(ordering: .relaxed) }
    set {
      precondition(newValue <= 100)
      battery.pointee.store(newValue, ordering: .relaxed)
    }
  }
}

struct XGORiderSimulatorState: ~Copyable {
  let body: UnsafeMutablePointer<VehicleBody>
  private let battery: UnsafeMutablePointer<Atomic<UInt8>>
  private var reader = XGOFrameReader()
  /// What was written; the speeds idle at 128.
  private var registers = [256 of UInt8](repeating: 0)

  init(body: UnsafeMutablePointer<VehicleBody>, battery: UnsafeMutablePointer<Atomic<UInt8>>) {
    self.body = body
    self.battery = battery
    registers[0x30] = 128
    registers[0x32] = 128
  }

  @_noLocks @_noAllocation
  mutating func serve(_ line: SimulatedSerialDevice.Line, at instant: TickInstant) {
    body.pointee.world.advance(to: instant)
    var bytes = [64 of UInt8](repeating: 0)
    while true {
      let count = take(&bytes, from: line)
      guard count > 0 else { break }
      for index in 0..<count {
        reader.append(bytes[index])
        while let frame = reader.next() { handle(frame, line, at: instant) }
      }
    }
    body.pointee.publish()
  }

  @_noLocks @_noAllocation
  private func take(_ bytes: UnsafeMutablePointer<[64 of UInt8]>, from line: SimulatedSerialDevice.Line) -> Int {
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

  /// 127 and the table's idle value 128 are both rest.
  @_noLocks @_noAllocation
  private func speed(_ scale: RiderScale, _ byte: UInt8) -> Double { byte == 128 ? 0 : scale.value(byte) }

  @_noLocks @_noAllocation
  private func answer(_ address: XGOAddress, count: Int, _ line: SimulatedSerialDevice.Line) {
    var reply = XGOFrame(mode: 0x12, address: address)
    switch (address.value, count) {
    case (0x01, 1): reply.append(battery.pointee.load(ordering: .relaxed))
    case (0x07, 10):
      let firmware: [10 of UInt8] = [0x52, 0x2D, 0x31, 0x2E, 0x34, 0x2E, 0x32, 0x20, 0x20, 0x20]  // "R-1.4.2   "
      for index in 0..<10 { reply.append(firmware[index]) }
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
