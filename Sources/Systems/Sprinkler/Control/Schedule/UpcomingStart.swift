import WallTime

/// A future start of a program in a preview.
public struct UpcomingStart: Sendable, Hashable {
  public var program: Int
  public var programName: String
  /// The key of the start: the program, the time of day and the local date.
  public var key: StartKey
  public var at: WallInstant
  /// The offset of local time from UTC at the start, in seconds.
  public var offsetSeconds: Int
  /// The runs of the start, by order of opening. Their times are estimates: one zone after another, as if all zones were in one group and no
  /// commands came.
  public var runs: [UpcomingRun]
  /// Whether the current rain delay will suppress the start, or the runs of the start that do not ignore rain.
  public var isInRainDelay: Bool
}

/// The run of a zone in a preview.
public struct UpcomingRun: Sendable, Hashable {
  public var zone: ZoneID
  /// The estimated instant at which the valve opens.
  public var start: WallInstant
  /// The duration in seconds; for a run by litres the longest duration.
  public var seconds: Int
  /// The water, in litres, or `nil` for a run by time.
  public var litres: Double?
  /// The reason why the run is not expected to happen, or `nil` if it is expected to happen.
  public var skipped: RunOutcome?
  /// A description for people of the change that the rain or the soil makes to the run, as far as it is known now; `nil` if there is no change.
  public var why: String?
}

/// A preview: the next starts of all programs, and the starts that will not happen.
public struct SprinklerPreview: Sendable, Hashable {
  /// The next starts, by instant.
  public var starts: [UpcomingStart]
  /// The starts by the sun, within the time of the preview, on days on which the sun does not rise or set.
  public var sunless: [StartKey]
  /// Whether there are further starts after the last one of `starts`.
  public var isCut: Bool
}

/// A preview with a draft of a program, of which nothing is stored.
public struct DraftPreview: Sendable, Hashable {
  /// The draft as it would be stored. A new program has the number that it would get.
  public var program: Program
  /// The instant at which the draft would next open a zone, or `nil` if it is disabled or has no day or no usable zone left.
  public var next: WallInstant?
  /// The next starts as they would be with the draft.
  public var preview: SprinklerPreview
}
