import Sprinkler
import Tactus
import TactusDaemon

/// The answer with every zone.
struct ZonesAnswer: Answers {
  let zones: [ZoneSeen]
  static var fields: [Field<ZonesAnswer>] {
    Items("zones", \.zones, each: "zone", numbered: "id", labels: ["zone": "id"]) { SprinklerFields.ofZone }
  }
}

/// The answer to a request that turns a zone on or off.
struct ZoneAnswer: Answers {
  /// The zone's number, or `nil` for all zones.
  let zoneId: Int?
  let zone: ZoneSeen?
  let warning: String?

  private var isOn: Bool { zone?.status.isOn ?? false }
  private var remainingSec: Int { zone?.remainingSec ?? 0 }

  static var fields: [Field<ZoneAnswer>] {
    Field("zoneId", \.zoneId, "Absent: every zone.").leftOutIfNil
    Field("isOn", \.isOn, "Whether its valve is open.")
    Field("remainingSec", \.remainingSec, "Until it closes; 0: it is closed.")
    Group("zone", \.zone) { SprinklerFields.ofZone }.leftOutIfNil
    Field("warning", \.warning, "What people are to know besides.").leftOutIfNil
  }
}

/// The answer with the rain delay, or with the information that there is none.
struct RainAnswer: Answers {
  let rain: RainSeen
  static var fields: [Field<RainAnswer>] { Group("rainDelay", \.rain) { SprinklerFields.ofRain } }
}

/// The answer with the queue.
struct QueueAnswer: Answers {
  let seen: SprinklerSeen
  /// The runs that the request has made, or `nil` if the request makes no runs.
  let runs: [UInt64]?
  let warning: String?

  private var runIds: [Int]? { runs?.map { Int(clamping: $0) } }

  static var fields: [Field<QueueAnswer>] {
    Field("state", \.seen.newest.state.word, "idle, watering, paused, fault, emergencyStopped, shutDown.")
    Items("queue", \.seen.queue, each: "run") { SprinklerFields.ofQueue }
    Field("queueCount", \.seen.newest.queueCount, "Runs that wait for their turn.")
    Field("runIds", \.runIds, "Runs that this request has made.").leftOutIfNil
    Field("warning", \.warning, "What people are to know besides.").leftOutIfNil
  }
}

/// The answer to `GET /api/sprinkler/settings`: the settings that the configuration fixes.
extension SprinklerDescription: Answers {
  private var masterPin: Int? { hasMaster ? lines.last?.pin : nil }
  private var runningInRain: String { stopsInRain ? "stop" : "finish" }

  static var fields: [Field<SprinklerDescription>] {
    Field("backend", \.backend, "gpio, sim.")
    Items("pins", \.zoneLines, each: "pin") {
      Field("pin", \.pin, "Its number.")
      Field("activeLow", \.isActiveLow, "Whether a low level opens the valve.")
    }
    Field("deniedPins", \.deniedPins, "Pins that are never used.")
    Field("masterPin", \.masterPin, "Null where there is no master valve.")
    Field("maxOpen", \.maximumOpen, "Valves open at a time in all.")
    Field("groups", \.groups, "The same of group 1, 2, ….")
    Field("stationDelaySec", \.stationDelaySeconds, "Between the end of one run and the next in its group.")
    Field("timeZone", \.timeZone.identifier, "Of schedules.")
    Field("manualInRain", \.manualInRain, "allow, warn, deny.")
    Field("runningInRain", \.runningInRain, "stop, finish.")
    Field("rainDelayHours", \.rainDelayHours, "Of a rain delay that nobody gave a length.")
    Field("weather", \.weather, "Who is asked; null if nobody is.")
  }
}
