import Buses
import Tactus

extension IrrigationMachine {
  /// Enters the fault state. A further fault does not replace the cause of the first.
  @_noLocks @_noAllocation
  mutating func fail(_ fault: IrrigationFault, at now: TickInstant) -> IrrigationVerdict {
    switch state {
    case .idle, .watering, .paused:
      endAll(.fault, at: now)
      if Mechanism.faultLatch.acts { state = .fault(fault) }
    case .fault, .emergencyStopped, .shutDown: break
    }
    return .accepted
  }

  @_noLocks @_noAllocation
  mutating func emergencyStop(at now: TickInstant) -> IrrigationVerdict {
    if case .shutDown = state { return .refused(.shutDown) }
    endAll(.emergencyStop, at: now)
    if Mechanism.emergencyStopLatch.acts { state = .emergencyStopped }
    return .accepted
  }

  @_noLocks @_noAllocation
  mutating func reset() -> IrrigationVerdict {
    switch state {
    case .idle, .watering, .paused: return .refused(.nothingToReset)
    case .shutDown: return .refused(.shutDown)
    case .fault, .emergencyStopped:
      guard confirmation.isConfirmed || !Mechanism.resetNeedsOff.acts else { return .refused(.offNotConfirmed) }
      state = .idle
      flowAlarm = nil
      return .accepted
    }
  }

  /// Ends every run, queued runs included, as of the instant at which the water stopped, since no zone was watered after that, whatever the scheduled
  /// end of a run was. The function must be called before runs expire.
  @_noLocks @_noAllocation
  mutating func endOutside(since: TickInstant, at now: TickInstant) {
    for index in 0..<zoneEnd {
      var end = since < now ? since : now
      if case .open(_, let opened) = zones[index].valve, end < opened { end = opened }
      self.end(index, .externalStop, at: end)
    }
    endQueued(.externalStop, at: now, isBegunToo: true)
    masterLagEnd = nil
  }

  // MARK: the lines

  /// The number of consecutive read-backs that must differ before the machine enters the fault state.
  static var toleratedDifferences: Int {
    @_noLocks @_noAllocation get { 3 }
  }
  static var retryDelay: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(100_000_000) }
  }

  @_noLocks @_noAllocation
  mutating func confirm(at now: TickInstant) -> IrrigationVerdict {
    if differences > 0 { notices.push(IrrigationNotice(at: now, .linesAgree)) }
    differences = 0
    retryAt = nil
    confirmation = .confirmed
    return .accepted
  }

  @_noLocks @_noAllocation
  mutating func differ(_ read: UInt64, at now: TickInstant) -> IrrigationVerdict {
    confirmation = .pending
    if differences == 0 { notices.push(IrrigationNotice(at: now, .linesDiffer(told: lines, read: read))) }
    differences &+= 1
    guard differences >= Self.toleratedDifferences else {
      retryAt = now + Self.retryDelay
      return .accepted
    }
    retryAt = nil
    let line = (lines ^ read).trailingZeroBitCount
    guard line < settings.lineCount else { return .accepted }
    return fail(.lineDiffers(line: UInt8(clamping: line), isActive: read >> UInt64(clamping: line) & 1 != 0), at: now)
  }

  /// Enters the fault state immediately, as the levels of the lines are unknown. Every tick then tries to turn the lines off.
  @_noLocks @_noAllocation
  mutating func linesFailed(_ error: GPIOError, at now: TickInstant) -> IrrigationVerdict {
    confirmation = .pending
    retryAt = nil
    return Mechanism.outputFault.acts ? fail(.lines(error), at: now) : .accepted
  }
}
