import Foundation

/// States as a daemon with simulated hardware reports them, for previews and for tests of an app.
public enum SampleStates {
  /// A robot at rest.
  public static var robot: RobotState {
    decoded(
      """
      {"state": "stopped", "reason": "stopped: nothing commanded yet", "wayOut": null, "speedsPercent": {"left": 0, "right": 0},
       "targetPercent": null, "holder": null, "emergencyStopped": false, "fault": null, "stopConfirmed": true,
       "settings": {"failsafeTimeoutMs": 1000, "speedLimitPercent": 100}}
      """)
  }

  /// A leg that is disarmed.
  public static var legs: LegsState {
    decoded(
      """
      {"state": "disarmed", "legs": [{"index": 0, "name": "leg 0", "state": "disarmed", "reason": "disarmed", "fault": null,
        "wayOut": "arm it", "pulseUs": null, "targetUs": null, "ageMs": null, "batteryMv": 7400,
        "settings": {"lowestUs": 500, "centreUs": 1500, "highestUs": 2500, "deadmanMs": 200}}]}
      """)
  }

  /// Three zones, the first of which is open, and one run in the queue.
  public static var sprinkler: SprinklerState {
    decoded(
      """
      {"state": "watering", "reason": "zone 1 is open", "wayOut": null, "fault": null, "pausedRemainingSec": null, "zones": [
        {"id": 1, "name": "Front lawn", "isEnabled": true, "isOn": true, "remainingSec": 312, "defaultMinutes": 10, "maxMinutes": 120, "ranTodaySec": 288},
        {"id": 2, "name": "Back lawn", "isEnabled": true, "isOn": false, "remainingSec": null, "defaultMinutes": 10, "maxMinutes": 120, "ranTodaySec": 0},
        {"id": 3, "name": "Roses", "isEnabled": true, "isOn": false, "remainingSec": null, "defaultMinutes": 5, "maxMinutes": 120, "ranTodaySec": 0}],
       "queue": [{"runId": 8, "zoneId": 2, "seconds": 600, "source": "once", "scheduleId": null, "inSec": 312}], "queueCount": 1,
       "rainDelay": {"active": false, "until": null, "reason": null, "detail": null},
       "nextRun": {"zoneId": 3, "startISO": "2026-11-30T05:00:00Z", "seconds": 300, "scheduleId": 1, "scheduleName": "Mornings"},
       "seasonalPercent": 100, "timeZone": "Europe/Berlin", "localTime": "2026-11-27T16:03:00+01:00"}
      """)
  }

  /// A schedule of weekdays.
  public static var schedules: [Schedule] {
    decoded(
      """
      [{"id": 1, "name": "Mornings", "isEnabled": true, "days": ["Mon", "Thu"], "intervalDays": null, "intervalFrom": null,
        "dayParity": null, "startTimes": ["06:00"], "zones": [{"zoneId": 3, "minutes": 5}], "skipIfRain": true,
        "followsSeason": true, "priority": 0, "nextStartISO": "2026-11-30T05:00:00Z"}]
      """)
  }

  /// A pump that runs.
  public static var pump: PumpState {
    decoded(
      """
      {"state": "on", "reason": "on", "fault": null, "wayOut": null, "source": "app", "contact": "answering", "speedPercent": 70,
       "waterCelsius": 12, "skinCelsius": 34.5, "temperaturesAgeMs": 500, "pumpedS": 240, "leftS": 1560, "restS": null}
      """)
  }

  /// A plant without an alert, and one that is dry.
  public static var plants: PlantsState {
    decoded(
      """
      {"state": "problem", "plants": [
        {"id": 1, "state": "ok", "name": "Basil", "sensors": ["0x36"], "moisturePercent": 62, "temperatureCelsius": 21, "alerts": [],
         "dryPercent": 20, "wetPercent": null, "coldCelsius": null, "hotCelsius": null, "lastWateredISO": null, "watering": null},
        {"id": 2, "state": "problem", "name": "Mint", "sensors": ["0x37"], "moisturePercent": 12, "temperatureCelsius": 20.5,
         "alerts": ["dry"], "dryPercent": 20, "wetPercent": null, "coldCelsius": null, "hotCelsius": null,
         "lastWateredISO": "2026-11-24T08:12:00Z", "watering": null}],
       "plantCount": 2, "alertCount": 1, "sensors": [
        {"id": "0x36", "moisturePercent": 62, "temperatureCelsius": 21, "isFresh": true, "ageMs": 300, "lastFailure": null, "plants": [1]},
        {"id": "0x37", "moisturePercent": 12, "temperatureCelsius": 20.5, "isFresh": true, "ageMs": 300, "lastFailure": null, "plants": [2]}]}
      """)
  }

  /// A camera that delivers pictures.
  public static var video: VideoState {
    decoded(
      """
      {"state": "running", "reason": "1 viewer", "wayOut": null,
       "rtsp": {"listening": true, "port": 8554, "path": "/stream", "asksPassword": false},
       "picture": {"width": 640, "height": 480}, "recordFolder": null, "recording": null}
      """)
  }

  // MARK: trouble

  /// A robot after an emergency stop, which waits for a reset.
  public static var robotEmergencyStopped: RobotState {
    var state = robot
    state.state = .emergencyStopped
    state.reason = "emergency stop by local client 1"
    state.wayOut = "release every stick, wait one failsafe timeout, then reset"
    state.emergencyStopped = true
    return state
  }

  /// A leg after an emergency stop, which waits for a reset.
  public static var legsEmergencyStopped: LegsState {
    var state = legs
    state.state = .emergencyStopped
    state.legs[0].state = .emergencyStopped
    state.legs[0].reason = "emergency stop"
    state.legs[0].wayOut = "reset, then arm it"
    return state
  }

  /// A sprinkler after an emergency stop: every zone is closed, and nothing is planned before a reset.
  public static var sprinklerEmergencyStopped: SprinklerState {
    var state = sprinklerIdle
    state.state = .emergencyStopped
    state.reason = "emergency stop"
    state.wayOut = "reset"
    return state
  }

  /// A pump in fault, since it has run for as long as it may.
  public static var pumpFault: PumpState {
    var state = pump
    state.state = .fault
    state.reason = "fault: pumped for as long as it may without a rest"
    state.fault = "run-limit"
    state.wayOut = "let it rest, or reset"
    state.source = "host"
    state.speedPercent = nil
    state.pumpedS = 1800
    state.leftS = nil
    state.restS = 300
    return state
  }

  /// A camera that does not deliver pictures, and is tried again.
  public static var videoFailed: VideoState {
    var state = video
    state.state = .failed
    state.reason = "no camera was found"
    state.wayOut = "the camera is tried again while there are viewers; `tactus doctor` lists the cameras"
    return state
  }

  // MARK: nothing to show

  /// A sprinkler with every zone closed, an empty queue and no next run.
  public static var sprinklerIdle: SprinklerState {
    var state = sprinkler
    state.state = .idle
    state.reason = "every valve is closed"
    state.zones[0].isOn = false
    state.zones[0].remainingSec = nil
    (state.queue, state.queueCount, state.nextRun) = ([], 0, nil)
    return state
  }

  /// No plants and no probes yet.
  public static var plantsEmpty: PlantsState {
    decoded(#"{"state": "ok", "plants": [], "plantCount": 0, "alertCount": 0, "sensors": []}"#)
  }

  private static func decoded<Value: Decodable>(_ text: String) -> Value {
    do {
      return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    } catch {
      preconditionFailure("a sample is no \(Value.self): \(error)")
    }
  }
}

extension DaemonModel {
  /// Returns a daemon for previews of SwiftUI, which shows the given states and whose commands fail as if it could not be reached.
  /// - Parameters:
  ///   - state: the state of the connection.
  ///   - robot: the robot's state, or `nil` if there is none. The other systems' parameters have the same meaning.
  public static func preview(
    _ state: LinkState = .live(.socket), robot: RobotState? = SampleStates.robot, legs: LegsState? = SampleStates.legs,
    sprinkler: SprinklerState? = SampleStates.sprinkler, schedules: [Schedule] = SampleStates.schedules,
    pump: PumpState? = SampleStates.pump, plants: PlantsState? = SampleStates.plants,
    video: VideoState? = SampleStates.video
  ) -> DaemonModel {
    let model = DaemonModel(Endpoint(host: "preview.local"), transport: PreviewTransport())
    model.show(
      state, robot: robot, legs: legs, sprinkler: sprinkler, schedules: schedules, pump: pump, plants: plants,
      video: video)
    return model
  }
}

/// A transport that reaches no daemon.
private struct PreviewTransport: Transport {
  func answer(to request: ClientRequest, token: String?) async throws(ClientError) -> ClientAnswer {
    throw .unreachable("this is a preview")
  }

  func openSocket(token: String?) async throws(ClientError) -> any EventSocket {
    throw .unreachable("this is a preview")
  }
}
