import Buses
@_spi(FromOutside) import Conversions
import Tactus

/// The lines of comparators in the soil, each active while its soil is wet.
public struct SoilLines: ~Copyable {
  /// The greatest number of lines.
  public static var most: Int {
    @_noLocks @_noAllocation get { 8 }
  }
  private let ports: UnsafeMutablePointer<GPIOEvents>
  private var count = 0

  /// Creates a list without lines.
  public init() { ports = .allocate(capacity: Self.most) }

  deinit {
    ports.deinitialize(count: count)
    ports.deallocate()
  }

  func addMemory(to memory: inout LoopMemory) { memory.add(ports, count: count) }

  /// Adds a line, which is read as the next one. More lines than `most` are a programming error.
  public mutating func add(_ port: consuming GPIOEvents) {
    precondition(count < Self.most, "at most \(Self.most) lines are read")
    (ports + count).initialize(to: port)
    count += 1
  }

  /// Reads every line.
  @_noLocks @_noAllocation
  mutating func read(at now: TickInstant) -> SoilLineReadings {
    var readings = SoilLineReadings()
    for line in 0..<count {
      ports[line].now = now
      do throws(GPIOError) {
        let isWet = try ports[line].read() & 1 == 1
        readings.note(line, isWet: isWet)
      } catch {
        continue
      }
    }
    return readings
  }
}

/// One reading of each comparator in the soil.
public struct SoilLineReadings: Sendable, Hashable, BitwiseCopyable {
  /// The lines whose soil is wet, with bit k for line k.
  private var wet: UInt8 = 0
  /// The lines that could be read, with bit k for line k.
  private var readable: UInt8 = 0

  /// Creates readings of which every line is unreadable.
  @_noLocks @_noAllocation
  init() {}

  @_noLocks @_noAllocation
  fileprivate mutating func note(_ line: Int, isWet: Bool) {
    let bit = UInt8(1) << UInt8(truncatingIfNeeded: line)
    readable |= bit
    if isWet { wet |= bit }
  }

  /// Returns whether the soil at a line, 0…7, is wet, or `nil` if the line was not read or could not be read.
  public func isWet(_ line: Int) -> Bool? {
    guard readable >> line & 1 == 1 else { return nil }
    return wet >> line & 1 == 1
  }
}
