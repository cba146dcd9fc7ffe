import WallTime

/// The member `timeZone` of `GET /api/status`: the time zone of the machine.
struct ZoneDocument: Encodable {
  /// The IANA name; null for a zone without one.
  @OrNull var name: String?
  /// The name; for a zone without one its offset, `+05:45`, or its rule as POSIX has it.
  let text: String
  /// The source of the zone: `TZ`, `/etc/localtime` or `the default`.
  let source: String
  /// The present offset from UTC in seconds; east is positive.
  let offsetSeconds: Int
  /// The next change of the offset, or null if none is known.
  @OrNull var nextChange: Change?
  /// The setting of the machine that contradicts the zone or is missing, or null if there is none.
  @OrNull var remark: String?

  struct Change: Codable {
    /// The instant of the change, written with the new offset.
    let atISO: String
    /// The new offset from UTC in seconds; east is positive.
    let offsetSeconds: Int
  }

  init(_ zone: MachineZone, at now: WallInstant) {
    _name = OrNull(wrappedValue: zone.rules.isNamed ? zone.rules.identifier : nil)
    text = zone.rules.identifier
    source = zone.source
    offsetSeconds = zone.rules.offsetSeconds(at: now)
    _nextChange = OrNull(
      wrappedValue: zone.rules.nextTransition(after: now).map {
        Change(atISO: WallTimeText.text($0.at, offsetSeconds: $0.offsetSeconds), offsetSeconds: $0.offsetSeconds)
      })
    _remark = OrNull(wrappedValue: zone.remark)
  }
}
