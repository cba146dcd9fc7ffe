import Service
import Sprinkler
import Tactus

/// A zone as `/api/status` and `/api/zones` show it.
struct ZoneDocument: Encodable {
  let id: Int
  let name: String
  let gpioPin: Int
  let isEnabled: Bool
  /// Its valve is open.
  let isOn: Bool
  /// Whole seconds, rounded up; null: it is closed.
  @OrNull var remainingSec: Int?
  let defaultMinutes: Double
  let maxMinutes: Double
  @OrNull var maxMinutesPerDay: Double?
  @OrNull var group: Int?
  let ignoresRain: Bool
  let usesMaster: Bool
  let activeLow: Bool
  let ranTodaySec: Double

  init(_ zone: Zone, status: ZoneStatus, at now: TickInstant, description: SprinklerDescription) {
    id = Int(zone.id.number)
    name = zone.name
    gpioPin = zone.gpioPin
    isEnabled = zone.isEnabled
    isOn = status.isOn
    _remainingSec = OrNull(wrappedValue: status.remaining(at: now)?.wholeSecondsUp)
    defaultMinutes = WateringTime.minutes(zone.defaultSeconds)
    maxMinutes = WateringTime.minutes(zone.maximumSeconds)
    _maxMinutesPerDay = OrNull(wrappedValue: zone.maximumSecondsPerDay.map(WateringTime.minutes))
    _group = OrNull(wrappedValue: zone.group)
    ignoresRain = zone.ignoresRain
    usesMaster = zone.usesMaster
    activeLow = description.line(zone.gpioPin).map { description.lines[$0].isActiveLow } ?? false
    ranTodaySec = (status.ranToday.inSeconds * 10).rounded() / 10
  }
}

extension Nanoseconds {
  /// A countdown shows 1 until it is over.
  var wholeSecondsUp: Int { Int((max(0, count) + 999_999_999) / 1_000_000_000) }
}

/// `{"active":true,"until":"2025-09-21T06:30:00Z"}`
struct RainDocument: Encodable {
  let active: Bool
  @OrNull var until: String?
  /// `manual`, `weather`; null: there is none.
  @OrNull var reason: String?
  /// What the forecast said.
  @OrNull var detail: String?

  init(_ delay: RainDelay?) {
    active = delay != nil
    _until = OrNull(wrappedValue: delay.map { WallTimeText.text($0.until) })
    switch delay?.reason {
    case nil: (_reason, _detail) = (OrNull(wrappedValue: nil), OrNull(wrappedValue: nil))
    case .manual: (_reason, _detail) = (OrNull(wrappedValue: "manual"), OrNull(wrappedValue: nil))
    case .weather(let text): (_reason, _detail) = (OrNull(wrappedValue: "weather"), OrNull(wrappedValue: text))
    }
  }
}

/// `{"zoneId":5,"startISO":"2025-09-21T06:30:00Z"}`, and what it belongs to.
struct NextRunDocument: Codable, Sendable {
  let zoneId: Int
  let startISO: String
  let seconds: Int
  /// Null: it is in the queue and belongs to no schedule.
  @OrNull var scheduleId: Int?
  @OrNull var scheduleName: String?
}
