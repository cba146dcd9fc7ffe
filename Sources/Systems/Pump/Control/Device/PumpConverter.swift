import Buses
@_spi(FromOutside) import Conversions
import Devices
import Tactus

/// The assignment of the pump's analogue sensors to the inputs of an ADS1115 converter.
public struct PumpConverter: Sendable, Hashable, BitwiseCopyable {
  public let chip: ADS1115
  /// The input of the water thermistor, 0…3, or `nil` if there is no such sensor.
  public let water: Int?
  /// The input of the skin thermistor, 0…3, or `nil` if there is no such sensor.
  public let skin: Int?
  /// The input of the potentiometer, 0…3, or `nil` if the pump has no potentiometer.
  public let pot: Int?
  /// The supply voltage of the thermistors and the potentiometer, which is the highest voltage an input can have.
  public let supply: Microvolts

  /// Creates an assignment with at least one input, no input used twice, and a supply above 0 V. Anything else is a
  /// programming error.
  public init(_ chip: ADS1115 = ADS1115(), water: Int?, skin: Int?, pot: Int?, supply: Microvolts) {
    let channels = [water, skin, pot].compactMap(\.self)
    precondition(!channels.isEmpty && Set(channels).count == channels.count, "at least one input, each once")
    precondition(channels.allSatisfy { (0..<ADS1115.channelCount).contains($0) }, "inputs are 0…3")
    precondition(supply.count > 0, "a supply has a voltage")
    self.chip = chip
    self.water = water
    self.skin = skin
    self.pot = pot
    self.supply = supply
  }

  /// Converts a voltage to the counts of a 10-bit ADC between ground and the supply, 0…1023.
  @_noLocks @_noAllocation
  func counts(_ voltage: Microvolts) -> Int {
    let counts = (voltage.count * 1_023 + supply.count / 2) / supply.count
    return counts < 0 ? 0 : counts > 1_023 ? 1_023 : Int(counts)
  }
}

/// Reads the inputs of a converter one after the other: each call ends one conversion and begins the next.
struct PumpConverterReader: BitwiseCopyable {
  private enum Phase: BitwiseCopyable {
    case idle(until: TickInstant)
    case converting(until: TickInstant)
  }

  private struct Input: BitwiseCopyable {
    let channel: Int?
    var counts = 0
    /// The instant at which the input was last read, or `nil` if it was never read.
    var readAt: TickInstant?

    init(_ channel: Int?) { self.channel = channel }
  }

  /// The age above which a reading is no longer used.
  private static var freshness: Nanoseconds {
    @_noLocks @_noAllocation get { .seconds(1) }
  }
  /// The time for which the converter is not addressed after it has failed to answer.
  private static var pause: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(200) }
  }

  private let converter: PumpConverter
  private var phase = Phase.idle(until: .zero)
  private var water: Input
  private var skin: Input
  private var pot: Input
  /// The input being converted: 0 is water, 1 skin, 2 the potentiometer.
  private var current = 0
  private(set) var failures: Int64 = 0
  private(set) var lastFailure: I2CError?

  init(_ converter: PumpConverter) {
    self.converter = converter
    water = Input(converter.water)
    skin = Input(converter.skin)
    pot = Input(converter.pot)
    advance()
  }

  /// Whether every input has been read.
  var isComplete: Bool {
    @_noLocks @_noAllocation get { isKnown(water) && isKnown(skin) && isKnown(pot) }
  }

  @_noLocks @_noAllocation
  private func isKnown(_ input: Input) -> Bool {
    if case .none = input.channel { return true }
    if case .some = input.readAt { return true }
    return false
  }

  /// Advances the conversion by one step. Call it once a period, after setting the bus's time. Makes at most three transfers, each attempted once:
  /// the next call is the retry.
  @_noLocks @_noAllocation
  mutating func step(on bus: inout I2CBus) {
    let attempts = bus.attempts
    bus.attempts = 1
    defer { bus.attempts = attempts }
    do throws(I2CError) {
      switch phase {
      case .idle(let until):
        guard !(bus.now < until) else { return }
      case .converting(let until):
        guard !(bus.now < until) else { return }
        guard let channel = channel(current), try converter.chip.isReady(channel, on: &bus) else {
          return miss(nil, at: bus.now)
        }
        keep(converter.counts(try converter.chip.read(on: &bus)), at: bus.now)
        advance()
      }
      guard let channel = channel(current) else { return }
      try converter.chip.start(channel, on: &bus)
      phase = .converting(until: bus.now + converter.chip.conversionTime)
    } catch {
      miss(error, at: bus.now)
    }
  }

  /// Counts a failure and pauses the conversions. `error` is `nil` if the converter had no power.
  @_noLocks @_noAllocation
  private mutating func miss(_ error: I2CError?, at now: TickInstant) {
    failures &+= 1
    if case .some = error { lastFailure = error }
    phase = .idle(until: now + Self.pause)
  }

  @_noLocks @_noAllocation
  private func channel(_ input: Int) -> Int? {
    switch input {
    case 0: water.channel
    case 1: skin.channel
    default: pot.channel
    }
  }

  @_noLocks @_noAllocation
  private mutating func keep(_ counts: Int, at now: TickInstant) {
    switch current {
    case 0: (water.counts, water.readAt) = (counts, now)
    case 1: (skin.counts, skin.readAt) = (counts, now)
    default: (pot.counts, pot.readAt) = (counts, now)
    }
  }

  /// Selects the next input that exists; at least one does.
  @_noLocks @_noAllocation
  private mutating func advance() {
    for _ in 0..<3 {
      current = current == 2 ? 0 : current &+ 1
      if case .some = channel(current) { return }
    }
  }

  /// Fills in the readings that are fresh. A potentiometer that cannot be read counts as absent.
  @_noLocks @_noAllocation
  func fill(_ sample: inout PumpSample, at now: TickInstant) {
    sample.water = fresh(water, at: now)
    sample.skin = fresh(skin, at: now)
    sample.pot = fresh(pot, at: now)
    if case .some = sample.water { sample.temperaturesAt = water.readAt }
    if case .some = sample.skin, let readAt = skin.readAt, !(readAt > sample.temperaturesAt ?? readAt) {
      sample.temperaturesAt = readAt
    }
    if case .some = water.channel, case .none = sample.water { sample.isWaterUnreadable = true }
    if case .some = skin.channel, case .none = sample.skin { sample.isSkinUnreadable = true }
  }

  @_noLocks @_noAllocation
  private func fresh(_ input: Input, at now: TickInstant) -> Int? {
    guard let readAt = input.readAt, (now - readAt).count <= Self.freshness.count else { return nil }
    return input.counts
  }
}

/// A 10 kΩ NTC thermistor with B = 3950 between the supply and a 10 kΩ resistor to ground, read by a 10-bit ADC.
public enum PumpThermistor {
  private static var curve: ThermistorCurve {
    @_noLocks @_noAllocation get { ThermistorCurve(nominalOhms: 10_000, betaKelvin: 3_950) }
  }

  /// Returns the temperature for an ADC count of 0…1023. An open sensor reads −77.4 °C and a shorted one 352.0 °C, as in the firmware: every count
  /// has a temperature, and neither of these two is plausible.
  @_noLocks @_noAllocation
  public static func temperature(counts: Int) -> PumpTemperature {
    let counts = Double(counts < 1 ? 1 : counts > 1_022 ? 1_022 : counts)
    // Both resistors are of 10 kΩ, so the ratio is R / R₂₅.
    return PumpTemperature(celsius: curve.celsius(ratio: 1_023 / counts - 1))
  }

  /// Returns the nearest count for a temperature, 1…1022, for a simulated ADC.
  @_noLocks @_noAllocation
  public static func counts(of celsius: Double) -> Int {
    let counts = 1_023 / (curve.ratio(celsius: celsius) + 1) + 0.5
    return counts < 1 ? 1 : counts > 1_022 ? 1_022 : Int(saturating: counts)
  }
}
