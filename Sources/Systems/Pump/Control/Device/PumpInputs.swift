import Tactus

/// What the pump's own inputs show at one moment.
public struct PumpSample: Sendable, Hashable, BitwiseCopyable {
  /// Counts of an ADC of 10 bits, 0…1023, or `nil` if there is no such input.
  public var water: Int?
  public var skin: Int?
  /// There is such an input, and it does not tell.
  public var isWaterUnreadable = false
  public var isSkinUnreadable = false
  /// When the older one of water and skin was read, or `nil` if neither was, or that is not known.
  public var temperaturesAt: TickInstant?
  public var pot: Int?
  /// It is `nil` if there is no button.
  public var isButtonPressed: Bool?

  @_noLocks @_noAllocation
  public init(water: Int? = nil, skin: Int? = nil, pot: Int? = nil, isButtonPressed: Bool? = nil) {
    self.water = water
    self.skin = skin
    self.pot = pot
    self.isButtonPressed = isButtonPressed
  }
}

/// The pump's thermistors, pot and button, whatever they hang on. Not copyable: one set of inputs, one owning loop.
public struct PumpInputs: ~Copyable {
  /// Fills the `PumpSample` behind the second pointer; the last argument is now in nanoseconds. Returns 0 or −errno.
  public typealias Read = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer, Int64) -> Int32

  private let context: UnsafeMutableRawPointer
  private let readFunction: Read

  /// `context` must stay valid as long as the inputs; its maker owns it. `read` carries `@_noLocks @_noAllocation`.
  public init(context: UnsafeMutableRawPointer, read: @escaping Read) {
    self.context = context
    readFunction = read
  }

  /// It is `nil` if they do not answer.
  @_noLocks @_noAllocation
  mutating func read(at now: TickInstant) -> PumpSample? {
    var sample = PumpSample()
    return callRead(readFunction, context, &sample, now.nanoseconds) < 0 ? nil : sample
  }
}

@_semantics("no_performance_analysis") @inline(never)
private func callRead(
  _ read: PumpInputs.Read, _ context: UnsafeMutableRawPointer, _ sample: UnsafeMutableRawPointer, _ now: Int64
) -> Int32 {
  read(context, sample, now)
}
