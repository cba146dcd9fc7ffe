import Buses
import Devices
import Tactus

/// The pump's analogue inputs on an ADS1115: which hangs where.
public struct PumpConverter: Sendable, Hashable, BitwiseCopyable {
  public let chip: ADS1115
  /// 0…3, or `nil` if there is no such input.
  public let water: Int?
  public let skin: Int?
  public let pot: Int?
  /// Of the thermistors and the pot: what an input shows at most.
  public let supply: Microvolts

  /// At least one input, each once, and a supply of more than nothing.
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

  /// What an ADC of 10 bits between ground and the supply would say, 0…1023.
  @_noLocks @_noAllocation
  func counts(_ voltage: Microvolts) -> Int {
    let counts = (voltage.count * 1_023 + supply.count / 2) / supply.count
    return counts < 0 ? 0 : counts > 1_023 ? 1_023 : Int(counts)
  }
}

/// Reads the inputs of a converter one after the other: a call ends a conversion and begins the next.
struct PumpConverterReader: BitwiseCopyable {
  private enum Phase: BitwiseCopyable {
    case idle(until: TickInstant)
    case converting(until: TickInstant)
  }

  private struct Input: BitwiseCopyable {
    let channel: Int?
    var counts = 0
    /// It is `nil` if it was never read.
    var readAt: TickInstant?

    init(_ channel: Int?) { self.channel = channel }
  }

  /// What is older counts no more.
  private static var freshness: Nanoseconds {
    @_noLocks @_noAllocation get { .seconds(1) }
  }
  /// A chip that does not answer is left alone for so long.
  private static var pause: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(200) }
  }

  private let converter: PumpConverter
  private var phase = Phase.idle(until: .zero)
  private var water: Input
  private var skin: Input
  private var pot: Input
  /// Being converted: 0 water, 1 skin, 2 pot.
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

  /// To be called once a period, with the bus's time set. At most three transfers, each made once: the next call is the retry.
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

  /// It is `nil` if it was without power.
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

  /// To the next input that there is: there is one.
  @_noLocks @_noAllocation
  private mutating func advance() {
    for _ in 0..<3 {
      current = current == 2 ? 0 : current &+ 1
      if case .some = channel(current) { return }
    }
  }

  /// Puts what is known into the sample. A pot that cannot be read is none.
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
