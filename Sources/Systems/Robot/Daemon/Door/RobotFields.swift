import Robot
import Tactus
import TactusDaemon
import Wire

/// What the robot's documents and metrics say, and where the loop's snapshot has it.
enum RobotFields {
  /// The state, and telemetry.
  static let document = StateDocument(of: "robot", fields)
  /// What a change tells.
  static let change = StateDocument(of: "robot", ofState)

  @DeclarationBuilder<Field<RobotSeen>> private static var fields: [Field<RobotSeen>] {
    Field.part(\.view, ofState)
    Field(
      "lastCommandAgeSeconds", \.lastCommandAge, unit: .seconds, when: .metrics,
      "Time since the controlling source's last accepted command; absent while control is free.")
    Group("settings", \.snapshot.settings, when: .state, "What the loop uses.") { ofSettings }
    Group("counters", \.snapshot.counters, when: .state, "Since the start.") { ofCounters }
    Field("lastFailure", \.lastFailure, when: .state, "Why the last motor write that failed did; null if none has.")
    Field(
      "lastMalformed", \.lastMalformed, when: .state,
      "Why the last datagram that was no robot datagram was refused; null if none has come.")
    Field(
      "retries", \.snapshot.retries, kind: .counter, when: .state, metric: "bus_retries",
      "Bus transfers that succeeded only after a retry.")
  }

  /// Of every document: telemetry and changes too.
  @DeclarationBuilder<Field<RobotView>> private static var ofState: [Field<RobotView>] {
    Field("state", \.word, metric: .none, "What the robot does.")
    Field(
      "stateInMetrics", \.metricWord, when: .metrics, metric: .named("state", label: "state"),
      "1 for the state the robot is in, 0 for the others.")
    Field("reason", \.reason, "What it does and why, for people.")
    Field("wayOut", \.robot.wayOut, "What makes it drivable again; null if it is.")
    Group("speedsPercent", \.robot.speeds, "What the motors are told.") {
      Field("left", \.left.value, unit: .percent, metric: .wheel("left"), told)
      Field("right", \.right.value, unit: .percent, metric: .wheel("right"), told)
    }
    Group("targetPercent", \.robot.target, "What the controlling source asked for; null unless driving.") {
      Field("left", \.left.value, unit: .percent, metric: .none, "The left wheel.")
      Field("right", \.right.value, unit: .percent, metric: .none, "The right wheel.")
    }
    Group("holder", \.holder, "Who controls; null while control is free.") {
      Field("source", \.source, "The address, or the client of the service.")
      Field("ageMs", \.ageMs, unit: .milliseconds, metric: .none, "Since its last accepted command.")
    }
    Field("emergencyStopped", \.isEmergencyStopped, "Whether the robot's emergency stop is latched.")
    Field("fault", \.fault, "What is wrong, beside an emergency stop too; null if nothing is.")
    Field(
      "stopConfirmed", \.isStopConfirmed, metric: .none,
      "Whether the board has taken the stop that is in force; null while none is.")
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
  }

  @DeclarationBuilder<Field<RobotCounters>> private static var ofCounters: [Field<RobotCounters>] {
    counter("datagrams", \.datagrams, "datagrams", "Datagrams received, whatever they were.")
    counter("malformed", \.malformed, "malformed_datagrams", "Datagrams that were no robot datagram.")
    counter(
      "directionMismatches", \.directionMismatches, "direction_mismatches",
      "CSV datagrams whose speeds turned against their direction.")
    counter(
      "accepted", \.accepted, "accepted_commands", "Commands, stops, emergency stops and resets that were taken.")
    counter("ignored", \.ignored, .none, "Commands, stops, emergency stops and resets that did nothing.")
    Group("ignoredByReason", \.self, "The same by the words of the UDP replies.") {
      IgnoreReason.allCases.map { reason in
        let word = "\(reason.shortText)"
        return counter(
          word, \.[reason], .named("ignored_commands", label: "reason", value: word),
          "Commands, stops, emergency stops and resets that did nothing, and why.")
      }
    }
    counter("replies", \.replies, "replies", "Replies sent.")
    counter(
      "repliesDropped", \.repliesDropped, "dropped_replies",
      "Replies that a limit or a full buffer did not let out.")
    counter("answersDropped", \.answersDropped, .none, "Answers to requests that found their ring full.")
    counter(
      "noticesDropped", \.noticesDropped, "dropped_notices",
      "Changes that no log shows because the ring was full.")
    counter("writes", \.writes, "motor_writes", "Motor writes that the board took.")
    counter(
      "writeFailures", \.writeFailures, "motor_write_failures", "Motor writes that failed after their retries.")
  }

  private static func counter(
    _ name: String, _ path: KeyPath<RobotCounters, Int64> & Sendable, _ metric: FieldMetric, _ meaning: String
  ) -> Field<RobotCounters> {
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
