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

  /// A loop that has missed its releases continues without entering its safe state.
  case missedReleases
  /// A loop continues as if its outputs still had its last values, after the guard has turned them off.
  case externalStops
  /// A runtime that stops leaves the outputs as they were.
  case finalSafeState

  // MARK: the guard

  /// A program that dies leaves its outputs on.
  case guardOnDeath
  /// A program that is stopped or hangs leaves its outputs on.
  case guardOnSilence
  /// A loop that hangs leaves its outputs on, as long as the program's heartbeats come.
  case guardOnHang
  /// A program whose heartbeats come too early, or are stamped in the future, counts as sound.
  case heartbeatEarly
  /// A program that repeats a heartbeat counts as sound.
  case heartbeatRepeated
  /// A program that leaves heartbeats out, or sends an older one, counts as sound.
  case heartbeatOrder
  /// A program that no longer reports on one of its loops counts as sound.
  case heartbeatForgetful
  /// An output that a faulty program turns on again after the guard's write stays on.
  case guardRepeats
  /// A safe state that was not acknowledged is not written again.
  case guardRetries
  /// The guard's write is not recorded, so no loop learns of it.
  case guardNote
  /// A guard that hangs counts as one that watches.
  case guardHang
  /// A guard that was lost is not replaced.
  case guardReplaced
  /// Outputs stay on although there is no guard and none can be started.
  case unguardedStop
  /// A guard that dies again and again is replaced for ever, and protects nothing.
  case guardLossLimit
  /// A person resets the stop and drives without a guard.
  case unguardedReset
  /// The operator is not informed that the guard has turned the outputs off.
  case guardStopTold
  /// The board resets while all is well.
  case hardwareWatchdogFed
  /// The hardware watchdog is fed although a safe state could not be written: the board never resets.
  case hardwareWatchdogStarved
  /// A guard that gives up disarms the hardware watchdog.
  case hardwareWatchdogLeft
  /// The stop hook has no plan to write unless the configuration is complete at that moment.
  case planLeft

  // MARK: every system

  /// An emergency stop ends without a reset.
  case emergencyStopLatch
  /// A restart undoes an emergency stop.
  case emergencyStopKept
  /// A fault ends without a person's reset.
  case faultLatch
  /// An off command that the hardware has not confirmed is not written again.
  case offUntilConfirmed
  /// A reset is accepted while it is unknown whether the output is off.
  case resetNeedsOff
  /// An output that the guard has stopped starts again by itself.
  case staysStopped
  /// An output is driven after the shutdown.
  case shutdownFinal
  /// A command that waited inside the daemon and was given up is obeyed.
  case staleness
  /// A stop waits for the requests that were sent before it.
  case stopOvertakes
  /// A wider limit takes effect immediately, in the middle of a motion.
  case widerLimitWaits
  /// An output that does not accept writes continues to be driven.
  case outputFault
  /// A chip that has lost its power, or a line that stays on, goes unnoticed.
  case readBack
  /// Outputs that a board still drives when the program starts stay on.
  case offFirst

  // MARK: commands

  /// A robot whose controller is silent drives on.
  case failsafe
  /// Two controllers drive one robot in turns.
  case oneController
  /// Only the controller can stop the robot.
  case stopFromAnyone
  /// A held stick drives on after another person has stopped the robot.
  case letGoAfterStop
  /// A stick that was held while the program died drives off as soon as the program is back.
  case letGoAfterDeath
  /// A reset while a stick is held makes the robot drive off immediately.
  case resetNeedsRest
  /// Older and repeated commands are obeyed, and keep the failsafe from acting.
  case commandOrder
  /// Recorded commands that are sent again drive the robot.
  case commandReplay
  /// A controller whose clock was set changes the speed of a robot in motion by a command of unknown age.
  case restBetweenClocks
  /// A wheel turns faster than the limit.
  case speedLimit
  /// A wheel's speed jumps.
  case acceleration
  /// A wheel's direction changes without a stop.
  case signThroughZero
  /// The robot drives on towards something near ahead, or without knowing what is ahead.
  case stopWithin
  /// A robot that has fallen over drives on.
  case tiltStop
  /// A camera mount turns on, or a body moves, while the robot is emergency-stopped or in fault.
  case mountHalt
  /// A buzzer that was told to sound for a moment sounds for ever.
  case beepEnd
  /// A leg whose operator is silent keeps its pulse.
  case deadman
  /// A leg moves that has not been armed.
  case armFirst
  /// A leg whose connection is lost drives on until its deadman acts.
  case linkLoss
  /// A leg is still armed for the next connection.
  case linkDisarms
  /// A pulse is longer or shorter than the leg's limits.
  case pulseLimits
  /// A pulse is longer or shorter than the servo can take.
  case servoTravel
  /// A servo jumps.
  case slewLimit
  /// Only the bus, which may be stuck, can end a servo's pulse.
  case outputEnable
  /// A sequence moves legs on although nobody is there any more.
  case sequenceNeedsSender
  /// A sequence moves a leg against the one who commands it.
  case sequenceYields
  /// A leg or a robot is driven with an empty battery.
  case batteryLimit

  // MARK: water and heat

  /// A valve stays open until a person closes it.
  case valveDeadline
  /// More valves than allowed are open.
  case valvesAtOnce
  /// A run is longer than the zone's limit.
  case longestRun
  /// A zone runs longer in a day than allowed.
  case dayLimit
  /// A missing flow while a valve is open goes unnoticed.
  case noFlow
  /// A burst pipe goes unnoticed.
  case highFlow
  /// A valve that does not close goes unnoticed.
  case leak
  /// A valve opens before the store knows of its run.
  case storeFirst
  /// A pump pumps longer than its limit.
  case runLimit
  /// A pump restarts as soon as its limit was reached.
  case restAfterRun
  /// A restart gives a pump its full limit again.
  case runLimitKept
  /// A power cut gives a pump its full limit again.
  case powerCutSpends
  /// A pump that receives no commands pumps on.
  case silenceLimit
  /// A silent pump keeps the state of its last answer.
  case unknownWhenSilent
  /// A start that was not confirmed is not followed by a stop.
  case unansweredStart
  /// The value of a broken or shorted sensor is used.
  case plausibility
  /// A pump goes on while the skin is too warm.
  case skinLimit

  // MARK: the door

  /// Any token is accepted.
  case tokenCheck
  /// A token is valid for ever.
  case tokenExpiry
  /// Tokens may be guessed without a limit.
  case attemptLimit
  /// A token's bytes can be found one by one from the time that their comparison takes.
  case tokenComparison
  /// A client that may only read may drive.
  case scopeCheck
  /// A web page of another site drives with the visitor's rights.
  case originCheck
  /// A host name that an attacker controls leads to the daemon.
  case hostCheck
  /// Idle clients take every connection, and no client can stop.
  case stopConnections
  /// A flood of drive commands fills a loop's ring, and a stop finds no place.
  case stopPlaces
  /// A command that was on its way to a loop is carried out after a stop that came later.
  case overtaking
  /// A new configuration is applied in part.
  case wholeReload
  /// Two systems drive one output.
  case claims
  /// Two programs drive one chip or one PWM output.
  case oneOwner
  /// A child process that hangs is not killed.
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
