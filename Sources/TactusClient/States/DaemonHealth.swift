/// Whether a daemon works, as `GET /api/health` reports it.
public struct DaemonHealth: Codable, Equatable, Sendable {
  /// The condition of the daemon.
  public struct Status: DaemonWord {
    /// The daemon's word for the condition.
    public var rawValue: String
    /// Creates a condition from any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Everything works.
    public static let ok: Status = "ok"
    /// Something does not work; `code` and `message` say what.
    public static let degraded: Status = "degraded"
    /// The daemon is stopping.
    public static let stopping: Status = "stopping"
    /// All words that this client knows.
    public static let known: [Status] = [.ok, .degraded, .stopping]
  }

  /// The process that writes the safe states when the daemon cannot.
  public struct Guard: Codable, Equatable, Sendable {
    /// The word for the guard's state: `watching`, `replacing`, `lost` or `none`.
    public var state: String
    /// The number of times since the start at which another guard took the place of a lost one.
    public var replacements: Int
    /// The number of times at which a guard has written the safe state of every output.
    public var madeSafe: Int
    /// The last instant at which a guard wrote the safe states, in ISO 8601, or `nil` if none has.
    public var madeSafeISO: String?
  }

  /// A trouble whose cause lies outside the daemon, which works nevertheless.
  public struct Warning: Codable, Equatable, Sendable {
    /// The code by which a program recognizes the cause, such as `BROKER_GONE`.
    public var code: String
    /// A sentence that says what is wrong, and what does not work until it is mended.
    public var message: String
  }

  /// Whether every loop of the daemon runs.
  public var ok: Bool
  /// The condition of the daemon.
  public var status: Status
  /// The code by which a program recognizes the cause of a condition other than `ok`. It is `nil` while the condition is `ok`.
  public var code: String?
  /// A sentence that says what the cause is and what a person can do about it. It is `nil` while the condition is `ok`.
  public var message: String?
  /// The daemon's version.
  public var version: String
  /// The activity of each system, or `nil` for one that has none.
  public var systems: [String: String?]
  /// The state of the guard.
  public var `guard`: Guard
  /// The troubles whose causes lie outside the daemon, with which the condition can be `ok`. The list is empty if the daemon has no such trouble, or is
  /// too old to report any.
  public var warnings: [Warning]

  /// Decodes the document of the daemon, which may have no member `warnings`.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    ok = try members.decode(Bool.self, forKey: .ok)
    status = try members.decode(Status.self, forKey: .status)
    code = try members.decodeIfPresent(String.self, forKey: .code)
    message = try members.decodeIfPresent(String.self, forKey: .message)
    version = try members.decode(String.self, forKey: .version)
    systems = try members.decode([String: String?].self, forKey: .systems)
    `guard` = try members.decode(Guard.self, forKey: .guard)
    warnings = try members.decodeIfPresent([Warning].self, forKey: .warnings) ?? []
  }
}
