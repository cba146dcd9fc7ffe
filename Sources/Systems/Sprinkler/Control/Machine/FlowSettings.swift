import Tactus

/// The flow sensor's settings and the limits for its readings. An instance is always valid.
public struct FlowSettings: Sendable, Hashable, BitwiseCopyable {
  /// The effect of an alarm besides its notice.
  public enum Reaction: UInt8, Sendable, Hashable, BitwiseCopyable {
    case notice
    /// The machine enters the fault state, which closes all valves until a reset.
    case fault
  }
  /// A limit for the flow, and the time over which the flow is averaged.
  public struct Watch: Sendable, Hashable, BitwiseCopyable {
    /// The limit, above 0 and up to 10,000 l/min.
    public let litresPerMinute: Double
    /// The time over which the flow is measured, 1…3,600 s; also the time that the flow is given to settle.
    public let over: Nanoseconds
    public let reaction: Reaction

    public init(
      litresPerMinute: Double, over: Nanoseconds, reaction: Reaction = .fault
    ) throws(IrrigationSettingsError) {
      guard litresPerMinute > 0, litresPerMinute <= 10_000 else { throw .flowRate(litresPerMinute: litresPerMinute) }
      guard over >= .seconds(1), over <= .seconds(3_600) else { throw .flowTime(over) }
      self.litresPerMinute = litresPerMinute
      self.over = over
      self.reaction = reaction
    }
  }
  /// The sensor's pulses per litre, above 0 and up to 100,000.
  public let pulsesPerLitre: Double
  /// The limits of the flow. They may change while the machine runs, unlike `pulsesPerLitre`.
  public internal(set) var limits: FlowLimits

  public init(
    pulsesPerLitre: Double, noFlow: Watch? = nil, highFlow: Watch? = nil, leak: Watch? = nil
  ) throws(IrrigationSettingsError) {
    guard pulsesPerLitre > 0, pulsesPerLitre <= 100_000 else { throw .pulsesPerLitre(pulsesPerLitre) }
    self.pulsesPerLitre = pulsesPerLitre
    limits = FlowLimits(noFlow: noFlow, highFlow: highFlow, leak: leak)
  }
}
