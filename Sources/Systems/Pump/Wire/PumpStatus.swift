/// The state that the pump reports.
public enum PumpReportedState: UInt8, Sendable, Hashable, BitwiseCopyable, CaseIterable {
  case off
  case on
  case error
}

/// The reply `STATUS:{…}`, whose keys can be in any order and can be missing.
public struct PumpStatus: Sendable, Hashable, BitwiseCopyable {
  public var state: PumpReportedState?
  /// The speed, 0…100 %.
  public var percent: UInt8?
  /// The whole minutes since the pump was started.
  public var runtimeMinutes: UInt16?
  /// The whole minutes until the pump stops by itself.
  public var remainingMinutes: UInt16?
  public var temperatures: PumpTemperatures

  @_noLocks @_noAllocation
  public init(
    state: PumpReportedState? = nil, percent: UInt8? = nil, runtimeMinutes: UInt16? = nil,
    remainingMinutes: UInt16? = nil, temperatures: PumpTemperatures = PumpTemperatures()
  ) {
    self.state = state
    self.percent = percent
    self.runtimeMinutes = runtimeMinutes
    self.remainingMinutes = remainingMinutes
    self.temperatures = temperatures
  }
}
