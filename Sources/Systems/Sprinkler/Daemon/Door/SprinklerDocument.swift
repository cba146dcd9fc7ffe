import Buses
import Service
import Sprinkler
import Tactus

/// What the requirement wants at the top level of `/api/status`.
struct SprinklerStatusDocument: Encodable {
  let backend: String
  /// The lines are held and take what they are told. Its name is the original backend's.
  let pigpioConnected: Bool
  let zones: [ZoneDocument]
  /// The zone that is open longest; null: none is.
  @OrNull var activeZoneId: Int?
  @OrNull var activeRemainingSec: Int?
  /// Of the queue, else of the schedules; null: neither has one.
  @OrNull var nextRun: NextRunDocument?
  let rainDelay: RainDocument
  /// Whole milliseconds that making this document took, as an app that knows the requirement's example reads it.
  let latencyMs: Int
}

/// The sprinkler as `GET /api/sprinkler` shows it.
struct SprinklerDocument: Encodable {
  struct Queued: Encodable {
    let runId: UInt64
    let zoneId: Int
    let seconds: Int
    /// `manual`, `schedule`, `once`, `resumed`
    let source: String
    @OrNull var scheduleId: Int?
    /// Null: that cannot be said.
    @OrNull var expectedISO: String?
    @OrNull var inSec: Int?
  }
  struct Flow: Codable, Sendable {
    let litresPerMinute: Double
    let pulses: Int64
    @OrNull var alarm: String?
  }
  struct Counters: Encodable {
    let accepted, refused, ended, completed, writes, lineFailures, differences: Int64
  }
  struct Store: Encodable {
    /// False: it could not be read, and lists of zones and schedules are empty because they are unknown.
    let open: Bool
    let writable: Bool
    @OrNull var failure: String?
  }
  struct Clock: Codable, Sendable {
    /// unconfirmed, steady, synchronised.
    let state: String
    /// False: what is due waits.
    let isBelieved: Bool
    /// Since the program's start; forward is positive.
    @OrNull var lastJumpSec: Int?
    @OrNull var lastJumpISO: String?
  }
  struct Weather: Codable, Sendable {
    let provider: String
    /// Whether it is asked and makes rain delays.
    let isOn: Bool
    @OrNull var millimetres: Double?
    /// Some of the days are unknown: it may be more.
    let isLowerBound: Bool
    @OrNull var answeredISO: String?
    @OrNull var failure: String?
  }

  /// Only in an answer of its own.
  var ok: Bool?
  let monotonicNs: Int64?
  /// idle, watering, paused, fault, emergencyStopped, shutDown.
  let state: String
  let reason: String
  @OrNull var fault: String?
  @OrNull var wayOut: String?
  /// Whether the lines were read back as they were told.
  let linesConfirmed: Bool
  @OrNull var pausedRemainingSec: Int?
  @OrNull var masterOpen: Bool?
  let zones: [ZoneDocument]
  let queue: [Queued]
  let queueCount: Int
  let rainDelay: RainDocument
  @OrNull var nextRun: NextRunDocument?
  let seasonalPercent: Int
  let timeZone: String
  let localTime: String
  @OrNull var flow: Flow?
  @OrNull var weather: Weather?
  let clock: Clock
  let store: Store
  let counters: Counters
}

/// A line as `GET /api/pins` shows it.
struct PinDocument: Encodable {
  let pin: Int
  /// Always `OUTPUT`: all lines are requested as outputs and held.
  let mode = "OUTPUT"
  /// The level on the pin, 1 for high, read back; null: it could not be read.
  @OrNull var value: Int?
  let activeLow: Bool
  /// Null: no zone has it.
  @OrNull var zoneId: Int?
  let isMaster: Bool
}

extension IrrigationState {
  /// The value of `state` in the API.
  var word: String {
    switch self {
    case .idle: "idle"
    case .watering: "watering"
    case .paused: "paused"
    case .fault: "fault"
    case .emergencyStopped: "emergencyStopped"
    case .shutDown: "shutDown"
    }
  }

  static let words = ["idle", "watering", "paused", "fault", "emergencyStopped", "shutDown"]

  /// What it does, in words.
  var reason: String {
    switch self {
    case .idle: "every valve is closed"
    case .watering: "watering"
    case .paused: "paused"
    case .fault(let fault): "fault: \(fault.words)"
    case .emergencyStopped: "emergency stop"
    case .shutDown: "shut down"
    }
  }

  /// What leads out of it, or `nil` if nothing needs to.
  var wayOut: String? {
    switch self {
    case .idle, .watering, .shutDown: nil
    case .paused: "resume, or wait"
    case .fault, .emergencyStopped: "reset"
    }
  }
}

extension ZoneRun.Source {
  var word: String {
    switch self {
    case .manual: "manual"
    case .program: "schedule"
    case .once: "once"
    case .resumed: "resumed"
    }
  }

  /// It is `nil` if it is none's.
  var program: Int? {
    switch self {
    case .manual: nil
    case .program(let id), .once(let id), .resumed(let id): id > 0 ? Int(id) : nil
    }
  }
}

extension IrrigationFault {
  var words: String {
    switch self {
    case .lines(let error): "the lines do not take what they are told: \(error)"
    case .lineDiffers(let line, let isActive):
      "line \(line) is \(isActive ? "on" : "off") although it was told otherwise"
    case .flow(let alarm): alarm.words
    case .missedReleases(let count): "the loop missed \(count) releases in a row"
    }
  }
}

extension FlowAlarm {
  var words: String {
    switch self {
    case .noFlow(let zone): "zone \(zone) is open and no water flows"
    case .highFlow(let zone): "zone \(zone) is open and too much water flows"
    case .leak: "water flows although every valve is closed"
    }
  }
}
