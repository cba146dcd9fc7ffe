#if MECHANISM_SWITCHES
  import CTactus
#endif

/// A safety mechanism that a test can switch off, to show that it is needed.
///
/// The code names the mechanism where it acts: `if Mechanism.deadman.acts && now >= end { … }`. In a debug build of this package
/// the environment variable `TACTUS_WITHOUT=deadman` starts a program without the mechanism, or without several, separated by
/// commas. `scripts/mechanisms` does so with one mechanism after another and requires that the tests of each fail. In every other
/// build `acts` is the literal `true`, and no code reads the variable.
///
/// The names are those of rules and not of systems: a mechanism that several systems have, such as `emergencyStopLatch`, has one
/// name and a test in each system. The sentence above each case says what happens without the mechanism.
public enum Mechanism: String, CaseIterable, Sendable {
  // MARK: the runtime

  /// Without this mechanism, a loop that has missed its releases continues without entering its safe state.
  case missedReleases
  /// Without this mechanism, a loop continues as if its outputs still had its last values, after the guard has turned them off.
  case externalStops
  /// Without this mechanism, a runtime that stops leaves the outputs as they were.
  case finalSafeState

  // MARK: the guard

  /// Without this mechanism, a program that dies leaves its outputs on.
  case guardOnDeath
  /// Without this mechanism, a program that is stopped or hangs leaves its outputs on.
  case guardOnSilence
  /// Without this mechanism, a loop that hangs leaves its outputs on, as long as the program's heartbeats come.
  case guardOnHang
  /// Without this mechanism, a program whose heartbeats come too early, or are stamped in the future, counts as sound.
  case heartbeatEarly
  /// Without this mechanism, a program that repeats a heartbeat counts as sound.
  case heartbeatRepeated
  /// Without this mechanism, a program that leaves heartbeats out, or sends an older one, counts as sound.
  case heartbeatOrder
  /// Without this mechanism, a program that no longer reports on one of its loops counts as sound.
  case heartbeatForgetful
  /// Without this mechanism, an output that a faulty program turns on again after the guard's write stays on.
  case guardRepeats
  /// Without this mechanism, a safe state that was not acknowledged is not written again.
  case guardRetries
  /// Without this mechanism, the guard's write is not recorded, so no loop learns of it.
  case guardNote
  /// Without this mechanism, a guard that hangs counts as one that watches.
  case guardHang
  /// Without this mechanism, a guard that was lost is not replaced.
  case guardReplaced
  /// Without this mechanism, outputs stay on although there is no guard and none can be started.
  case unguardedStop
  /// Without this mechanism, a guard that dies again and again is replaced for ever, and protects nothing.
  case guardLossLimit
  /// Without this mechanism, a person resets the stop and drives without a guard.
  case unguardedReset
  /// Without this mechanism, the operator is not informed that the guard has turned the outputs off.
  case guardStopTold
  /// Without this mechanism, the board resets while all is well.
  case hardwareWatchdogFed
  /// Without this mechanism, the hardware watchdog is fed although a safe state could not be written: the board never resets.
  case hardwareWatchdogStarved
  /// Without this mechanism, a guard that gives up disarms the hardware watchdog.
  case hardwareWatchdogLeft
  /// Without this mechanism, the stop hook has no plan to write unless the configuration is complete at that moment.
  case planLeft

  // MARK: every system

  /// Without this mechanism, an emergency stop ends without a reset.
  case emergencyStopLatch
  /// Without this mechanism, a restart undoes an emergency stop.
  case emergencyStopKept
  /// Without this mechanism, a fault ends without a person's reset.
  case faultLatch
  /// Without this mechanism, an off command that the hardware has not confirmed is not written again.
  case offUntilConfirmed
  /// Without this mechanism, a reset is accepted while it is unknown whether the output is off.
  case resetNeedsOff
  /// Without this mechanism, an output that the guard has stopped starts again by itself.
  case staysStopped
  /// Without this mechanism, an output is driven after the shutdown.
  case shutdownFinal
  /// Without this mechanism, a command that waited inside the daemon and was given up is obeyed.
  case staleness
  /// Without this mechanism, a stop waits for the requests that were sent before it.
  case stopOvertakes
  /// Without this mechanism, a wider limit takes effect immediately, in the middle of a motion.
  case widerLimitWaits
  /// Without this mechanism, an output that does not accept writes continues to be driven.
  case outputFault
  /// Without this mechanism, a chip that has lost its power, or a line that stays on, goes unnoticed.
  case readBack
  /// Without this mechanism, outputs that a board still drives when the program starts stay on.
  case offFirst

  // MARK: commands

  /// Without this mechanism, a robot whose controller is silent drives on.
  case failsafe
  /// Without this mechanism, two controllers drive one robot in turns.
  case oneController
  /// Without this mechanism, only the controller can stop the robot.
  case stopFromAnyone
  /// Without this mechanism, a held stick drives on after another person has stopped the robot.
  case letGoAfterStop
  /// Without this mechanism, a stick that was held while the program died drives off as soon as the program is back.
  case letGoAfterDeath
  /// Without this mechanism, a reset while a stick is held makes the robot drive off immediately.
  case resetNeedsRest
  /// Without this mechanism, older and repeated commands are obeyed, and keep the failsafe from acting.
  case commandOrder
  /// Without this mechanism, recorded commands that are sent again drive the robot.
  case commandReplay
  /// Without this mechanism, a controller whose clock was set changes the speed of a robot in motion by a command of unknown age.
  case restBetweenClocks
  /// Without this mechanism, a wheel turns faster than the limit.
  case speedLimit
  /// Without this mechanism, a wheel's speed jumps.
  case acceleration
  /// Without this mechanism, a wheel's direction changes without a stop.
  case signThroughZero
  /// Without this mechanism, the robot drives on towards something near ahead, or without knowing what is ahead.
  case stopWithin
  /// Without this mechanism, a robot that has fallen over drives on.
  case tiltStop
  /// Without this mechanism, a camera mount turns on, or a body moves, while the robot is emergency-stopped or in fault.
  case mountHalt
  /// Without this mechanism, a buzzer that was told to sound for a moment sounds for ever.
  case beepEnd
  /// Without this mechanism, a leg whose operator is silent keeps its pulse.
  case deadman
  /// Without this mechanism, a leg moves that has not been armed.
  case armFirst
  /// Without this mechanism, a leg whose connection is lost drives on until its deadman acts.
  case linkLoss
  /// Without this mechanism, a leg is still armed for the next connection.
  case linkDisarms
  /// Without this mechanism, a pulse is longer or shorter than the leg's limits.
  case pulseLimits
  /// Without this mechanism, a pulse is longer or shorter than the servo can take.
  case servoTravel
  /// Without this mechanism, a servo jumps.
  case slewLimit
  /// Without this mechanism, only the bus, which may be stuck, can end a servo's pulse.
  case outputEnable
  /// Without this mechanism, a sequence continues to move legs after its sender has gone.
  case sequenceNeedsSender
  /// Without this mechanism, a sequence moves a leg that another client commands.
  case sequenceYields
  /// Without this mechanism, a leg or a robot is driven with an empty battery.
  case batteryLimit

  // MARK: water and heat

  /// Without this mechanism, a valve stays open until a person closes it.
  case valveDeadline
  /// Without this mechanism, more valves than allowed are open.
  case valvesAtOnce
  /// Without this mechanism, a run is longer than the zone's limit.
  case longestRun
  /// Without this mechanism, a zone runs longer in a day than allowed.
  case dayLimit
  /// Without this mechanism, a missing flow while a valve is open goes unnoticed.
  case noFlow
  /// Without this mechanism, a burst pipe goes unnoticed.
  case highFlow
  /// Without this mechanism, a valve that does not close goes unnoticed.
  case leak
  /// Without this mechanism, a valve opens before the store knows of its run.
  case storeFirst
  /// Without this mechanism, a pump pumps longer than its limit.
  case runLimit
  /// Without this mechanism, a pump restarts as soon as its limit was reached.
  case restAfterRun
  /// Without this mechanism, a restart gives a pump its full limit again.
  case runLimitKept
  /// Without this mechanism, a power cut gives a pump its full limit again.
  case powerCutSpends
  /// Without this mechanism, a pump that receives no commands pumps on.
  case silenceLimit
  /// Without this mechanism, a silent pump keeps the state of its last answer.
  case unknownWhenSilent
  /// Without this mechanism, a start that was not confirmed is not followed by a stop.
  case unansweredStart
  /// Without this mechanism, the value of a broken or shorted sensor is used.
  case plausibility
  /// Without this mechanism, a pump goes on while the skin is too warm.
  case skinLimit

  // MARK: the door

  /// Without this mechanism, any token is accepted.
  case tokenCheck
  /// Without this mechanism, a token is valid for ever.
  case tokenExpiry
  /// Without this mechanism, tokens may be guessed without a limit.
  case attemptLimit
  /// Without this mechanism, a token's bytes can be found one by one from the time that their comparison takes.
  case tokenComparison
  /// Without this mechanism, a client that may only read may drive.
  case scopeCheck
  /// Without this mechanism, a web page of another site drives with the visitor's rights.
  case originCheck
  /// Without this mechanism, a host name that an attacker controls leads to the daemon.
  case hostCheck
  /// Without this mechanism, idle clients take every connection, and no client can stop.
  case stopConnections
  /// Without this mechanism, a flood of drive commands fills a loop's ring, and a stop finds no place.
  case stopPlaces
  /// Without this mechanism, a command that was on its way to a loop is carried out after a stop that came later.
  case overtaking
  /// Without this mechanism, a new configuration is applied in part.
  case wholeReload
  /// Without this mechanism, two systems drive one output.
  case claims
  /// Without this mechanism, two programs drive one chip or one PWM output.
  case oneOwner
  /// Without this mechanism, a child process that hangs is not killed.
  case childSilence
}

extension Mechanism {
  #if MECHANISM_SWITCHES
    /// Whether the mechanism does its work. It always does, except in a test that shows that it is needed.
    public var acts: Bool {
      @_noLocks @_noAllocation get { tactus_mechanism_acts(number) != 0 }
    }

    /// The index of the mechanism in `allCases`.
    var number: UInt8 {
      @_noLocks @_noAllocation get { unsafeBitCast(self, to: UInt8.self) }
    }
  #else
    /// Whether the mechanism does its work. It always does, except in a test that shows that it is needed.
    @inlinable @inline(__always) public var acts: Bool {
      @_noLocks @_noAllocation get { true }
    }
  #endif
}
