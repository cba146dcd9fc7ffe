import Buses
import Tactus

extension IrrigationMachine {
  /// Another cause in a fault does not replace the first.
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

  /// Every run ends, queued ones too, as of the instant at which the water stopped: nothing was watered after it, whatever a run's own
  /// end would have been. Before runs expire.
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

  /// Read-backs in a row that must differ before it is a fault: "check back".
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

  /// At once: it is not known what the lines do. The off is then tried at every tick.
  @_noLocks @_noAllocation
  mutating func linesFailed(_ error: GPIOError, at now: TickInstant) -> IrrigationVerdict {
    confirmation = .pending
    retryAt = nil
    return Mechanism.outputFault.acts ? fail(.lines(error), at: now) : .accepted
  }
}
