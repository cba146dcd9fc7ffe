import Buses
@_spi(FromOutside) import Conversions
import Synchronization
import Tactus

/// A serial line between two loops in simulated time: bytes take time to arrive, and some are changed or lost.
///
/// Use it only on the thread that runs the simulation. The same seed and the same calls give the same bytes. It must outlive its ports.
public final class PumpCable {
  public struct Conditions: Sendable {
    /// The transmission time of one byte: 8N1 at 9600 bit/s.
    public var byteTime = Nanoseconds(1_041_667)
    /// The number of lost bytes per million.
    public var lostPerMillion: UInt32 = 0
    /// The number of changed bytes per million.
    public var changedPerMillion: UInt32 = 0

    public init() {}
  }

  /// The input that wakes the operator's loop.
  public let operatorInput = SimulatedInput()
  /// The input that wakes the device's loop.
  public let deviceInput = SimulatedInput()
  private let toDevice: UnsafeMutablePointer<PumpWire>
  private let toOperator: UnsafeMutablePointer<PumpWire>
  private let operatorEnd: UnsafeMutablePointer<PumpWireEnds>
  private let deviceEnd: UnsafeMutablePointer<PumpWireEnds>

  public init(_ conditions: Conditions = Conditions(), seed: UInt64 = 1) {
    var random = SplitMix64(seed: seed)
    toDevice = .allocate(capacity: 1)
    toOperator = .allocate(capacity: 1)
    toDevice.initialize(to: PumpWire(conditions, seed: random.next(), wakes: deviceInput.readyAt))
    toOperator.initialize(to: PumpWire(conditions, seed: random.next(), wakes: operatorInput.readyAt))
    operatorEnd = .allocate(capacity: 1)
    deviceEnd = .allocate(capacity: 1)
    operatorEnd.initialize(to: PumpWireEnds(out: toDevice, back: toOperator))
    deviceEnd.initialize(to: PumpWireEnds(out: toOperator, back: toDevice))
  }

  deinit {
    toDevice.deinitialize(count: 1)
    toOperator.deinitialize(count: 1)
    toDevice.deallocate()
    toOperator.deallocate()
    operatorEnd.deallocate()
    deviceEnd.deallocate()
  }

  public func operatorPort() -> SerialPort { SerialPort(context: operatorEnd, write: writeToWire, read: readFromWire) }
  public func devicePort() -> SerialPort { SerialPort(context: deviceEnd, write: writeToWire, read: readFromWire) }

  /// Unplugs the cable from the operator's computer: its port reports an error, and bytes in both directions are lost. The device does not notice.
  public func unplug() {
    toDevice.pointee.clear()
    toOperator.pointee.clear()
    operatorEnd.pointee.isGone = true
    deviceEnd.pointee.isCut = true
  }

  public func plugIn() {
    operatorEnd.pointee.isGone = false
    operatorEnd.pointee.isCut = false
    deviceEnd.pointee.isCut = false
  }

  /// Loses bytes in both directions without an error, like a radio out of range or a device without power.
  public func cut() {
    operatorEnd.pointee.isCut = true
    deviceEnd.pointee.isCut = true
  }
}

/// One end of the line: the wire that it writes to, and the wire that it reads from.
struct PumpWireEnds: BitwiseCopyable {
  let out: UnsafeMutablePointer<PumpWire>
  let back: UnsafeMutablePointer<PumpWire>
  var isGone = false
  var isCut = false
}

/// One direction of the line: bytes and the arrival time of each.
struct PumpWire: ~Copyable {
  private static var capacity: Int {
    @_noLocks @_noAllocation get { 4_096 }
  }

  private let conditions: PumpCable.Conditions
  private var random: SplitMix64
  private let wakes: UnsafeMutablePointer<TickInstant>
  private let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 4_096)
  private let arrivals = UnsafeMutablePointer<Int64>.allocate(capacity: 4_096)
  private var first = 0
  private var count = 0
  private var freeAt: Int64 = 0

  init(_ conditions: PumpCable.Conditions, seed: UInt64, wakes: UnsafeMutablePointer<TickInstant>) {
    self.conditions = conditions
    random = SplitMix64(seed: seed)
    self.wakes = wakes
    bytes.initialize(repeating: 0, count: 4_096)
    arrivals.initialize(repeating: 0, count: 4_096)
  }

  deinit {
    bytes.deallocate()
    arrivals.deallocate()
  }

  @_noLocks @_noAllocation
  mutating func clear() {
    count = 0
    wakes.pointee = .distantFuture
  }

  @_noLocks @_noAllocation
  mutating func put(_ source: UnsafeRawBufferPointer, at now: Int64) -> Int {
    var taken = 0
    while taken < source.count, count < Self.capacity {
      if freeAt < now { freeAt = now }
      freeAt &+= conditions.byteTime.count
      var byte = source[taken]
      taken &+= 1
      let draw = random.next() % 1_000_000
      if draw < UInt64(conditions.lostPerMillion) { continue }
      if draw &- UInt64(conditions.lostPerMillion) < UInt64(conditions.changedPerMillion) {
        byte ^= 1 << UInt8(truncatingIfNeeded: random.next() & 7)
      }
      let place = (first + count) % Self.capacity
      bytes[place] = byte
      arrivals[place] = freeAt
      count &+= 1
    }
    wake()
    return taken
  }

  @_noLocks @_noAllocation
  mutating func take(_ target: UnsafeMutableRawBufferPointer, at now: Int64) -> Int {
    var taken = 0
    while taken < target.count, count > 0, arrivals[first] <= now {
      target[taken] = bytes[first]
      first = (first + 1) % Self.capacity
      count &-= 1
      taken &+= 1
    }
    wake()
    return taken
  }

  /// Sets the wake-up to the arrival of the last byte on its way, so that the loop is not woken for every byte.
  @_noLocks @_noAllocation
  private func wake() {
    guard count > 0 else {
      wakes.pointee = .distantFuture
      return
    }
    wakes.pointee = TickInstant(nanoseconds: arrivals[(first + count - 1) % Self.capacity])
  }
}

@_noLocks @_noAllocation
private func writeToWire(
  _ context: UnsafeMutableRawPointer, _ bytes: UnsafeMutableRawPointer, _ count: Int, _ now: Int64
) -> Int {
  let end = context.assumingMemoryBound(to: PumpWireEnds.self)
  if end.pointee.isGone { return -5 }  // EIO
  if end.pointee.isCut { return count }
  return end.pointee.out.pointee.put(UnsafeRawBufferPointer(start: bytes, count: count), at: now)
}

@_noLocks @_noAllocation
private func readFromWire(
  _ context: UnsafeMutableRawPointer, _ bytes: UnsafeMutableRawPointer, _ count: Int, _ now: Int64
) -> Int {
  let end = context.assumingMemoryBound(to: PumpWireEnds.self)
  if end.pointee.isGone { return -5 }  // EIO
  return end.pointee.back.pointee.take(UnsafeMutableRawBufferPointer(start: bytes, count: count), at: now)
}
