@_spi(FromOutside) import Conversions
import Tactus

/// The readings of the pump's sensors, potentiometer and button at one moment.
public struct PumpSample: Sendable, Hashable, BitwiseCopyable {
  /// The reading of the water thermistor in counts of a 10-bit ADC, 0…1023, or `nil` if the thermistor does not exist or cannot be read.
  public var water: Int?
  /// The reading of the skin thermistor in counts of a 10-bit ADC, 0…1023, or `nil` if the thermistor does not exist or cannot be read.
  public var skin: Int?
  /// Whether the water thermistor exists but cannot be read.
  public var isWaterUnreadable = false
  /// Whether the skin thermistor exists but cannot be read.
  public var isSkinUnreadable = false
  /// The instant at which the older of the water and skin readings was taken, or `nil` if there is no such reading or its time is unknown.
  public var temperaturesAt: TickInstant?
  /// The reading of the potentiometer in counts of a 10-bit ADC, 0…1023, or `nil` if the potentiometer does not exist or cannot be read.
  public var pot: Int?
  /// Whether the button is pressed, or `nil` if there is no button.
  public var isButtonPressed: Bool?

  @_noLocks @_noAllocation
  public init(water: Int? = nil, skin: Int? = nil, pot: Int? = nil, isButtonPressed: Bool? = nil) {
    self.water = water
    self.skin = skin
    self.pot = pot
    self.isButtonPressed = isButtonPressed
  }
}

/// The pump's thermistors, potentiometer and button, independent of how they are connected. The type is not copyable: exactly one loop uses the
/// inputs.
public struct PumpInputs: ~Copyable {
  /// Fills the `PumpSample` behind the second pointer; the last argument is the present time in nanoseconds. Returns 0 or −errno.
  public typealias Read = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer, Int64) -> Int32

  private let context: UnsafeMutableRawPointer
  private let readFunction: Read

  /// Creates inputs that call `read` with `context`. The caller owns `context`, which must stay valid as long as the
  /// inputs exist. `read` carries `@_noLocks @_noAllocation`.
  public init(context: UnsafeMutableRawPointer, read: @escaping Read) {
    self.context = context
    readFunction = read
  }

  /// Returns a sample of all inputs, or `nil` if they do not answer.
  @_noLocks @_noAllocation
  mutating func read(at now: TickInstant) -> PumpSample? {
    var sample = PumpSample()
    guard let tape = TickTape.current else {
      return callRead(readFunction, context, &sample, now.nanoseconds) < 0 ? nil : sample
    }
    var result = 0
    if !tape.isReplaying {
      let paused = TickTape.pause()
      result = Int(callRead(readFunction, context, &sample, now.nanoseconds))
      TickTape.resume(paused)
    }
    tape.gets(.sample, &result, 8)
    tape.gets(.sample, &sample, MemoryLayout<PumpSample>.size)
    return result < 0 ? nil : sample
  }
}

@_semantics("no_performance_analysis") @inline(never)
private func callRead(
  _ read: PumpInputs.Read, _ context: UnsafeMutableRawPointer, _ sample: UnsafeMutableRawPointer, _ now: Int64
) -> Int32 {
  read(context, sample, now)
}
