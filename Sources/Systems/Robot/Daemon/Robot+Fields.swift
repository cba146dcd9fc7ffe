import Robot
import Tactus
import TactusDaemon
import Wire

// The fields of the robot's documents and metrics, with their values in the loop's snapshot.
extension Robot {
  public static func seen(_ published: Published<State>, _ look: Look<Robot>) -> RobotSeen {
    RobotSeen(published: published, now: look.now)
  }

  /// The document of an event that reports a change of state.
  static let change = StateDocument(of: name, ofState)

  @DeclarationBuilder<Field<RobotSeen>> public static var seenFields: [Field<RobotSeen>] {
    Field.part(\.view, ofState)
    Field(
      "lastCommandAgeSeconds", \.lastCommandAge, unit: .seconds, when: .metrics,
      "Time since the controlling source's last accepted command; absent while control is free.")
    Group(
      "motion", \.motion, when: .state,
      "What the motors are told, in SI units; null unless the file gives the wheel base and the top speed."
    ) {
      Field("linearMPerS", \.metresPerSecond, unit: Unit("m/s"), metric: .none, "Positive forwards.")
      Field("angularRadPerS", \.radiansPerSecond, unit: Unit("rad/s"), metric: .none, "Positive to the left.")
    }
    Field(
      "batteryPercent", \.batteryPercent, unit: Unit("%"), metric: "battery_percent",
      "Charge of the board's battery; null while it is not known, as with boards that do not say.")
    Group(
      "attitude", \.attitude,
      "How the robot leans; null while it is not known, as with boards that do not say."
    ) {
      Field("rollDegrees", \.roll, unit: .degrees, "Positive to the right.")
      Field("pitchDegrees", \.pitch, unit: .degrees, "Positive forwards.")
    }
    Group(
      "ahead", \.ahead, "What the distance sensor sees; null unless motors.stop_within_mm is given."
    ) {
      Field(
        "distanceMm", \.distance, unit: .millimetres, "To the nearest thing ahead; null while it is not known.")
      Field("ageMs", \.age, unit: .milliseconds, metric: .none, "Since it was read; null while it is not known.")
      Field("stopWithinMm", \.stopWithin, unit: .millimetres, metric: .none, "Nearer than this ends forward motion.")
    }
    Field(
      "board", \.snapshot.fittings.board, when: .state, metric: .none,
      "The board that drives it; a simulated one for motors.backend sim.")
    Field("can", \.abilities, when: .state, "What the board can do beside turning wheels.")
    Group("panTilt", \.mount, "The camera mount; null unless the board turns one.") { ofMount }
    Field("lights", \.lights, when: .state, "The colour of each light as it was told, `#ff8000`, or `unknown`.")
    Field("buzzing", \.isBuzzing, "Whether the buzzer was told to sound; null while that is not known.")
    Group(
      "line", \.line,
      "The probes of the line sensor as the board gives them: false above something dark. Null unless motors.line_sensor is true and the board gives something."
    ) {
      Field("x1", \.x1, "The inner left probe, bit 3.")
      Field("x2", \.x2, "The outer left probe, bit 2.")
      Field("x3", \.x3, "The inner right probe, bit 1.")
      Field("x4", \.x4, "The outer right probe, bit 0.")
    }
    Field("heightMm", \.height, unit: .millimetres, "Height of the body as it was told; null until it is.")
    Field("balancing", \.isBalancing, "Whether the board was told to level its body's roll; null until it is.")
    Group("settings", \.snapshot.settings, when: .state, "What the loop uses.") { ofSettings }
    Group("counters", \.counts, when: .state, "Since the start.") { ofCounters }
    Field("lastFailure", \.lastFailure, when: .state, "Why the last motor write that failed did; null if none has.")
    Field(
      "lastMalformed", \.lastMalformed, when: .state,
      "Why the last datagram that was no robot datagram was refused; null if none has come.")
    Field(
      "retries", \.snapshot.retries, kind: .counter, when: .state, metric: "bus_retries",
      "Bus transfers that succeeded only after a retry.")
  }

  @DeclarationBuilder<Field<RobotSeen>> public static var answerFields: [Field<RobotSeen>] {
    Field("state", \.view.word, metric: .none, "What the robot does.")
    Field(
      "scaledTo", \.view.share, metric: .none,
      "The share of the asked m/s and rad/s that is driven; null if all of it is.")
  }

  /// The members of every document, including those of telemetry and of changes.
  @DeclarationBuilder<Field<RobotView>> private static var ofState: [Field<RobotView>] {
    Field("state", \.word, metric: .none, "What the robot does.")
    Field(
      "stateInMetrics", \.metricWord, when: .metrics, metric: .named("state", label: "state"),
      "1 for the state the robot is in, 0 for the others.")
    Field("reason", \.reason, "The state in words: what it does and why.")
    Field("wayOut", \.robot.wayOut, "What makes it drivable again; null if it is.")
    Group("speedsPercent", \.robot.speeds, "What the motors are told.") {
      Field("left", \.left.value, unit: .percent, metric: .wheel("left"), told)
      Field("right", \.right.value, unit: .percent, metric: .wheel("right"), told)
    }
    Group("targetPercent", \.robot.target, "What the controlling source asked for; null unless driving.") {
      Field("left", \.left.value, unit: .percent, metric: .none, "The left wheel.")
      Field("right", \.right.value, unit: .percent, metric: .none, "The right wheel.")
    }
    Field(
      "scaledTo", \.share, metric: .none,
      "The share of the asked m/s and rad/s that is driven, below 1, as a wheel would be too fast; null if all of it is."
    )
    Field(
      "forwardStop", \.forwardStop, metric: .none,
      "Why it does not drive forward as asked: obstacle or distanceUnknown; null if it does or is not asked to.")
    Group("holder", \.holder, "Who controls; null while control is free.") {
      Field("source", \.source, "The address, or the client of the service: `192.168.1.20:50000`, `local client 7`.")
      Field("ageMs", \.ageMs, unit: .milliseconds, metric: .none, "Since its last accepted command.")
    }
    Field("emergencyStopped", \.isEmergencyStopped, "Whether the robot's emergency stop is latched, until a reset.")
    Field("fault", \.fault, "What is wrong, beside an emergency stop too; null if nothing is.")
    Field(
      "stopConfirmed", \.isStopConfirmed, metric: .none,
      "Whether the board has taken the stop that is in force; null while none is.")
  }

  @DeclarationBuilder<Field<RobotSeen.Mount>> private static var ofMount: [Field<RobotSeen.Mount>] {
    Field("panDegrees", \.pan, unit: .degrees, "What the pan servo was told; null until it is.")
    Field("tiltDegrees", \.tilt, unit: .degrees, "What the tilt servo was told; null until it is.")
    Field("panTargetDegrees", \.panTarget, unit: .degrees, metric: .none, "Where it is to turn.")
    Field("tiltTargetDegrees", \.tiltTarget, unit: .degrees, metric: .none, "Where it is to turn.")
    Field("panMinDegrees", \.settings.pan.lowest, unit: .degrees, when: .state, metric: .none, "Its smallest angle.")
    Field("panMaxDegrees", \.settings.pan.highest, unit: .degrees, when: .state, metric: .none, "Its greatest angle.")
    Field("tiltMinDegrees", \.settings.tilt.lowest, unit: .degrees, when: .state, metric: .none, "Its smallest angle.")
    Field("tiltMaxDegrees", \.settings.tilt.highest, unit: .degrees, when: .state, metric: .none, "Its greatest angle.")
    Field(
      "degreesPerS", \.settings.degreesPerSecond, unit: Unit("°/s"), when: .state, metric: .none, "How fast it turns.")
  }

  private static let told = "What the motors are told, -1 to 1 of full speed."

  @DeclarationBuilder<Field<RobotSettings>> private static var ofSettings: [Field<RobotSettings>] {
    Field(
      "failsafeTimeoutMs", \.failsafeTimeout.inMilliseconds, unit: .milliseconds, metric: .none,
      "Silence after which the motors stop.")
    Field(
      "tickPeriodMs", \.tickPeriod.inMilliseconds, unit: .milliseconds, metric: .none,
      "Time between two periodic ticks.")
    Field("speedLimitPercent", \.speedLimit.value, unit: .percent, metric: .none, "No wheel is driven faster.")
    Field(
      "acceleration", \.acceleration, metric: .none,
      "As in the configuration, 0…100: speeds rise at four times this in percent a second.")
    Field("slewPercentPerSecond", \.slewPerSecond, metric: .none, "The same in percent a second; null for no ramp.")
    Field(
      "failuresBeforeFault", \.failuresBeforeFault, metric: .none, "Motor writes in a row that fail before a fault.")
    Field(
      "wheelBaseM", \.geometry?.wheelBaseMetres, unit: .metres, metric: .none,
      "Distance between the wheels; null: it is not given, and the robot drives in percent only.")
    Field(
      "topSpeedMPerS", \.geometry?.topSpeedMetresPerSecond, unit: Unit("m/s"), metric: .none,
      "Speed of a wheel at 100 %; null as the wheel base.")
  }

  @DeclarationBuilder<Field<RobotSeen.Counts>> private static var ofCounters: [Field<RobotSeen.Counts>] {
    counter("datagrams", \.loop.datagrams, "datagrams", "Datagrams received, whatever they were.")
    counter("malformed", \.loop.malformed, "malformed_datagrams", "Datagrams that were no robot datagram.")
    counter(
      "directionMismatches", \.loop.directionMismatches, "direction_mismatches",
      "CSV datagrams whose speeds turned against their direction.")
    counter(
      "accepted", \.loop.accepted, "accepted_commands", "Commands, stops, emergency stops and resets that were taken.")
    counter("ignored", \.loop.ignored, .none, "Commands, stops, emergency stops and resets that did nothing.")
    Group("ignoredByReason", \.loop, "The same by the words of the UDP replies.") {
      IgnoreReason.allCases.map { reason in
        let word = "\(reason.shortText)"
        return counter(
          word, \.[reason], .named("ignored_commands", label: "reason", value: word),
          "Commands, stops, emergency stops and resets that did nothing, and why.")
      }
    }
    counter("replies", \.loop.replies, "replies", "UDP replies sent.")
    counter(
      "repliesDropped", \.loop.repliesDropped, "dropped_replies",
      "Replies that a limit or a full buffer did not let out.")
    counter(
      "distanceFailures", \.loop.distanceFailures, "distance_read_failures",
      "Readings of the distance ahead that failed on the bus.")
    counter(
      "lineFailures", \.loop.lineFailures, "line_read_failures",
      "Readings of the line sensor that failed on the bus.")
    counter(
      "fittingFailures", \.loop.fittingFailures, "fitting_write_failures",
      "Writes to the camera mount, lights, buzzer, height or balance that failed after their retries.")
    counter(
      "boardTimeouts", \.boardTimeouts, "board_read_timeouts",
      "Requests for battery and attitude that the board did not answer in time.")
    // These two fields have no metrics, since every declared system has metrics of lost answers and notices already.
    counter("answersDropped", \.answersDropped, .none, "Answers to requests that found their ring full.")
    counter(
      "noticesDropped", \.noticesDropped, .none, "Changes that no log shows because the ring was full.")
    counter("writes", \.loop.writes, "motor_writes", "Motor writes that the board took.")
    counter(
      "writeFailures", \.loop.writeFailures, "motor_write_failures", "Motor writes that failed after their retries.")
  }

  private static func counter<Counts>(
    _ name: String, _ path: KeyPath<Counts, Int64> & Sendable, _ metric: FieldMetric, _ meaning: String
  ) -> Field<Counts> {
    Field(name, path, kind: .counter, metric: metric, meaning)
  }
}

extension FieldMetric {
  fileprivate static func wheel(_ side: String) -> FieldMetric {
    .named("wheel_speed_ratio", label: "wheel", value: side)
  }
}

extension RobotCounters {
  fileprivate subscript(_ reason: IgnoreReason) -> Int64 { ignored(reason) }
}
