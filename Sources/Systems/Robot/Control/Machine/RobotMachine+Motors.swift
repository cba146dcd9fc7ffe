import Tactus

// The results of motor writes, and which of them are a fault.

extension RobotMachine {
  /// Handles the result of the last output. The result of an output that is no longer in force changes nothing: a late confirmation of a
  /// motion says nothing about the stop that followed.
  @_noLocks @_noAllocation
  mutating func feedback(_ event: RobotEvent) -> RobotAction {
    switch (state, event) {
    case (.driving(var control), .driveConfirmed):
      control.failures = 0
      state = .driving(control)
      return RobotAction(.none)
    case (.driving(var control), .driveFailed(let failure)):
      control.failures += 1
      state = .driving(control)
      return isFault(failure) ? fail(.motorWrites(failure, failures: control.failures)) : RobotAction(.none)
    case (.driving, _), (_, .driveConfirmed), (_, .driveFailed):
      return .ignored(.outOfPlace)
    case (_, .stopConfirmed):
      confirm(.confirmed)
      return RobotAction(.none)
    case (_, .stopFailed(let failure)):
      confirm(.pending(failures: min(failures + 1, Int.max - 1)))
      // The fault's own stop comes with the next tick: writing it at once would only fail again.
      if isFault(failure) { _ = fail(.motorWrites(failure, failures: failures)) }
      return RobotAction(.none)
    default:
      return .ignored(.outOfPlace)
    }
  }

  /// Enters `fault`, or records the fault if an e-stop is in force. The first cause is kept, since later ones mostly follow from it.
  @_noLocks @_noAllocation
  mutating func fail(_ cause: RobotFault) -> RobotAction {
    switch state {
    case .stopped, .driving:
      guard Mechanism.faultLatch.acts else {
        state = .stopped(Standstill(reason: .silence, confirmation: .pending(failures: failures), holder: nil))
        break
      }
      state = .fault(Fault(cause: cause, confirmation: .pending(failures: failures)))
    case .emergencyStopped(var stop):
      stop.fault = stop.fault ?? cause
      state = .emergencyStopped(stop)
    case .fault, .shutDown:
      break
    }
    return RobotAction(.stop)
  }

  @_noLocks @_noAllocation
  private func isFault(_ failure: MotorFailure) -> Bool {
    guard Mechanism.outputFault.acts else { return false }
    if case .timedOut = failure.kind { return true }
    return failures >= settings.failuresBeforeFault
  }

  @_noLocks @_noAllocation
  private mutating func confirm(_ confirmation: StopConfirmation) {
    switch state {
    case .stopped(var standstill):
      standstill.confirmation = confirmation
      state = .stopped(standstill)
    case .driving:
      break
    case .emergencyStopped(var stop):
      stop.confirmation = confirmation
      state = .emergencyStopped(stop)
    case .fault(var fault):
      fault.confirmation = confirmation
      state = .fault(fault)
    case .shutDown:
      state = .shutDown(confirmation)
    }
  }
}
