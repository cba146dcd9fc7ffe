#if MECHANISM_SWITCHES
  import CTactus
#endif

/// A safety mechanism that a test can do without, to show that it is needed.
///
/// Each is named where it acts: `if Mechanism.deadman.acts && now >= end { … }`. In a debug build of this package the environment variable
/// `TACTUS_WITHOUT=deadman` starts a program without it, or without several, separated by commas; `scripts/mechanisms` does so with one after
/// the other, and demands that the tests of each fail. In every other build `acts` is the literal `true`, and no code reads the variable.
///
/// The names are those of rules and not of systems: what several systems have, such as `emergencyStopLatch`, has one name, and a test in each.
/// The sentence above each says what happens without it.
public enum Mechanism: String, CaseIterable, Sendable {
  // MARK: the runtime

  /// A loop that has missed its releases goes on as if nothing had happened.
  case missedReleases
  /// A loop goes on as if its outputs were what it last made them, after the guard has turned them off.
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
  /// A program that does not tell of a loop any more counts as sound.
  case heartbeatForgetful
  /// What a program that is out of control turns on again after the guard's write stays on.
  case guardRepeats
  /// A safe state that was not acknowledged is not written again.
  case guardRetries
  /// The guard's write is noted nowhere: no loop learns of it.
  case guardNote
  /// A guard that hangs is taken for one that watches.
  case guardHang
  /// A guard that was lost has no successor.
  case guardReplaced
  /// Outputs stay on although there is no guard, and none can be had.
  case unguardedStop
  /// A guard that dies again and again is replaced for ever, and protects nothing.
  case guardLossLimit
  /// Somebody resets the stop, and drives without a guard.
  case unguardedReset
  /// Nobody is told that the guard has turned the outputs off.
  case guardStopTold
  /// The board resets while all is well.
  case hardwareWatchdogFed
  /// The hardware watchdog is fed although a safe state could not be written: the board never resets.
  case hardwareWatchdogStarved
  /// A guard that gives up takes the hardware watchdog with it.
  case hardwareWatchdogLeft
  /// The stop hook has no plan to write, unless the configuration is whole at that moment.
  case planLeft

  // MARK: every system

  /// Something other than a reset leaves an emergency stop.
  case emergencyStopLatch
  /// A restart undoes an emergency stop.
  case emergencyStopKept
  /// Something other than what a person says leaves a fault.
  case faultLatch
  /// An off that the hardware has not taken is not written again.
  case offUntilConfirmed
  /// A reset is taken while nobody knows whether the output is off.
  case resetNeedsOff
  /// What the guard has stopped starts again by itself.
  case staysStopped
  /// Something drives after the end.
  case shutdownFinal
  /// A command that waited inside the daemon, and was given up, is obeyed.
  case staleness
  /// A stop waits for what was asked before it.
  case stopOvertakes
  /// A wider limit holds at once, in the middle of a motion.
  case widerLimitWaits
  /// An output that does not take what is written goes on being driven.
  case outputFault
  /// A chip that has lost its power, or a line that stays on, goes unnoticed.
  case readBack
  /// What a board still does when the program starts goes on.
  case offFirst

  // MARK: commands

  /// A robot whose controller is silent drives on.
  case failsafe
  /// Two controllers drive one robot by turns.
  case oneController
  /// Nobody but the controller can stop the robot.
  case stopFromAnyone
  /// A held stick drives on after somebody else has stopped the robot.
  case letGoAfterStop
  /// A stick that was held while the program died drives off as soon as it is there again.
  case letGoAfterDeath
  /// A reset with a stick held drives off at once.
  case resetNeedsRest
  /// Older and repeated commands are obeyed, and keep the failsafe from acting.
  case commandOrder
  /// A recording of commands that is sent again drives the robot.
  case commandReplay
  /// A controller whose clock was set changes the speed of a robot in motion, nobody knows by how old a command.
  case restBetweenClocks
  /// A wheel turns faster than the limit.
  case speedLimit
  /// A wheel's speed jumps.
  case acceleration
  /// A wheel's direction changes without a stop.
  case signThroughZero
  /// A leg whose operator is silent keeps its pulse.
  case deadman
  /// A leg moves that nobody has armed.
  case armFirst
  /// A leg whose connection is lost drives on until its deadman acts.
  case linkLoss
  /// A leg is still armed for whoever connects next.
  case linkDisarms
  /// A pulse is longer or shorter than the leg's limits.
  case pulseLimits
  /// A pulse is longer or shorter than the servo can take.
  case servoTravel
  /// A servo jumps.
  case slewLimit
  /// A servo's pulse ends only by the bus, which may be stuck.
  case outputEnable
  /// A leg is driven with an empty battery.
  case batteryLimit

  // MARK: water and heat

  /// A valve stays open until somebody closes it.
  case valveDeadline
  /// More valves are open than may be.
  case valvesAtOnce
  /// A run is longer than the zone's longest.
  case longestRun
  /// A zone runs longer in a day than it may.
  case dayLimit
  /// Nobody learns that no water comes while a valve is open.
  case noFlow
  /// A burst pipe goes unnoticed.
  case highFlow
  /// A valve that does not close goes unnoticed.
  case leak
  /// A valve opens before the store knows of its run.
  case storeFirst
  /// A pump pumps longer than its limit.
  case runLimit
  /// A pump starts anew as soon as its limit was reached.
  case restAfterRun
  /// A restart gives a pump its limit anew.
  case runLimitKept
  /// A power cut gives a pump its limit anew.
  case powerCutSpends
  /// A pump that no command comes to pumps on.
  case silenceLimit
  /// A pump is told by what it was when it last answered.
  case unknownWhenSilent
  /// A start that was not confirmed is left to itself.
  case unansweredStart
  /// A sensor that is broken or shorted is believed.
  case plausibility
  /// A pump goes on while the skin is too warm.
  case skinLimit

  // MARK: the door

  /// Any token is a right one.
  case tokenCheck
  /// A token is good for ever.
  case tokenExpiry
  /// Whoever guesses may guess as often as he likes.
  case attemptLimit
  /// A token's bytes can be found out one by one, by the time that their comparison takes.
  case tokenComparison
  /// Whoever may look may drive.
  case scopeCheck
  /// A page of another site drives with the visitor's rights.
  case originCheck
  /// A name that somebody else's server answers for leads to the daemon.
  case hostCheck
  /// Those who say nothing take every connection, and nobody can stop.
  case stopConnections
  /// A flood of drives takes every place in a loop's ring, and a stop finds none.
  case stopPlaces
  /// A new configuration is taken in part.
  case wholeReload
  /// Two systems drive one output.
  case claims
  /// Two programs drive one chip or one PWM output.
  case oneOwner
  /// A child process that hangs is left to itself.
  case childSilence
}

extension Mechanism {
  #if MECHANISM_SWITCHES
    /// Whether the mechanism does its work. It always does, except in a test that shows that it is needed.
    public var acts: Bool {
      @_noLocks @_noAllocation get { tactus_mechanism_acts(number) != 0 }
    }

    /// Its place in `allCases`.
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
