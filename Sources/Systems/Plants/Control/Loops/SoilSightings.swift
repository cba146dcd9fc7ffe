@_spi(FromOutside) import Conversions
import Tactus

/// The address of a Bluetooth device: six bytes.
public struct RadioAddress: Sendable, Hashable, BitwiseCopyable {
  private let number: UInt64

  /// Creates the address from its text, `AA:BB:CC:DD:EE:FF` in either case, or returns `nil` for any other text.
  public init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 6, parts.allSatisfy({ $0.utf8.count == 2 && $0.allSatisfy(\.isHexDigit) }) else { return nil }
    number = parts.reduce(0) { $0 << 8 | (UInt64($1, radix: 16) ?? 0) }
  }

  /// The address in upper case: `AA:BB:CC:DD:EE:FF`.
  public var text: String {
    (0..<6).reversed().map { index in
      let byte = UInt8(truncatingIfNeeded: number >> (8 * index))
      return (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined(separator: ":")
  }
}

/// The latest values that one soil sensor has advertised by radio. The sensor may advertise its values one after the other.
public struct SoilSighting: Sendable, BitwiseCopyable {
  /// A value and the instant of its advertisement.
  public struct Value: Sendable, BitwiseCopyable {
    /// The value, in hundredths of the unit.
    public var value: Int
    /// The instant at which the value's advertisement was received.
    public var at: TickInstant
  }

  /// The moisture of the soil in hundredths of a per cent.
  public private(set) var moisture: Value?
  private var temperature: Value?

  @_noLocks @_noAllocation
  init() {}

  /// Notes the values of an advertisement that was received at `now`.
  public mutating func note(_ said: SoilAdvertisement, at now: TickInstant) {
    if let value = said.moisture { moisture = Value(value: value, at: now) }
    if let value = said.temperature { temperature = Value(value: value, at: now) }
  }

  /// Returns the temperature in degrees Celsius if it was heard within ten minutes.
  @_noLocks @_noAllocation
  func celsius(at now: TickInstant) -> Double? {
    guard let temperature, now - temperature.at < .seconds(600) else { return nil }
    return Double(temperature.value) / 100
  }
}

/// The latest values that up to sixteen sensors have advertised, in the order of the probes. The value is handed from the thread that listens to the
/// loop.
public struct SoilSightings: Sendable, BitwiseCopyable {
  private var sightings: [16 of SoilSighting]

  /// Creates sightings of sensors that have not advertised yet.
  public init() { sightings = .init(repeating: SoilSighting()) }

  /// The latest values of the probe at an index, 0…15.
  @_noLocks @_noAllocation
  public subscript(index: Int) -> SoilSighting {
    get { sightings[index] }
    set { sightings[index] = newValue }
  }
}
