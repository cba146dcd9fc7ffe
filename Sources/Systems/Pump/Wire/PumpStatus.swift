/// What the pump says that it does.
public enum PumpReportedState: UInt8, Sendable, Hashable, BitwiseCopyable, CaseIterable {
  case off
  case on
  case error
}

/// `STATUS:{…}`: every key may be missing, in any order.
public struct PumpStatus: Sendable, Hashable, BitwiseCopyable {
  public var state: PumpReportedState?
  /// 0…100 %.
  public var percent: UInt8?
  /// Whole minutes since the pump was started, and until it stops by itself.
  public var runtimeMinutes: UInt16?
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
