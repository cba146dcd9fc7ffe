/// The next starts of all schedules. They are estimates: one zone after another, and nobody interferes.
public struct SchedulePreview: Codable, Equatable, Sendable {
  /// A start by the sun on a day on which the sun neither rises nor sets.
  public struct Sunless: Codable, Equatable, Sendable {
    /// The number of the schedule.
    public var scheduleId: Int
    /// The day of the start, `YYYY-MM-DD`.
    public var date: String
    /// The start, such as `sunrise-20`.
    public var start: String
  }

  /// The controller's time zone, in which its times are meant.
  public var timeZone: String
  /// The starts, the next one first.
  public var starts: [ScheduledStart]
  /// The starts by the sun that have no time.
  public var sunless: [Sunless]
  /// Whether more starts follow.
  public var isCut: Bool
}

/// The next starts as they would be with a draft of a schedule, of which nothing is saved.
public struct DraftPreview: Codable, Equatable, Sendable {
  /// The draft as it would be saved. A new one has the number that it would get, by which `starts` name it.
  public var schedule: Schedule
  /// The controller's time zone, in which its times are meant.
  public var timeZone: String
  /// The starts, the next one first.
  public var starts: [ScheduledStart]
  /// The starts by the sun that have no time.
  public var sunless: [SchedulePreview.Sunless]
  /// Whether more starts follow.
  public var isCut: Bool
}

/// The body of a request for the preview of a draft: a schedule, and the number of the one that it replaces.
struct ScheduleDraft: Encodable {
  private enum Key: String, CodingKey { case id }

  var schedule: NewSchedule
  /// The number of the schedule that the draft replaces, or `nil` for a draft in addition to all schedules.
  var id: Int?

  func encode(to encoder: any Encoder) throws {
    try schedule.encode(to: encoder)
    var members = encoder.container(keyedBy: Key.self)
    try members.encodeIfPresent(id, forKey: .id)
  }
}
