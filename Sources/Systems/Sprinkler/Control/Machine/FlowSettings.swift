import Tactus

/// A flow sensor and what it must not say. Valid once made.
public struct FlowSettings: Sendable, Hashable, BitwiseCopyable {
  /// What an alarm does besides being a notice.
  public enum Reaction: UInt8, Sendable, Hashable, BitwiseCopyable {
    case notice
    /// Everything is closed until a reset.
    case fault
  }
  /// One limit, looked at over one time.
  public struct Watch: Sendable, Hashable, BitwiseCopyable {
    /// Above 0 … 10,000 l/min.
    public let litresPerMinute: Double
    /// The time over which flow is measured, and after which it has settled, 1…3,600 s.
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
  /// Above 0 … 100,000.
  public let pulsesPerLitre: Double
  /// They may change while the machine runs; the sensor may not.
  public internal(set) var limits: FlowLimits

  public init(
    pulsesPerLitre: Double, noFlow: Watch? = nil, highFlow: Watch? = nil, leak: Watch? = nil
  ) throws(IrrigationSettingsError) {
    guard pulsesPerLitre > 0, pulsesPerLitre <= 100_000 else { throw .pulsesPerLitre(pulsesPerLitre) }
    self.pulsesPerLitre = pulsesPerLitre
    limits = FlowLimits(noFlow: noFlow, highFlow: highFlow, leak: leak)
  }
}
