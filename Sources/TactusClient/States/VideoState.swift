/// The camera, as `GET /api/video` says it.
public struct VideoState: Codable, Equatable, Sendable {
  /// What it does.
  public struct Mode: DaemonWord {
    /// The word.
    public var rawValue: String
    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The video process does not run.
    public static let down: Mode = "down"
    /// Nobody looks.
    public static let idle: Mode = "idle"
    /// The camera starts.
    public static let starting: Mode = "starting"
    /// There are pictures.
    public static let running: Mode = "running"
    /// The camera has failed and is tried again.
    public static let failed: Mode = "failed"
    /// All of them.
    public static let known: [Mode] = [.down, .idle, .starting, .running, .failed]
  }

  /// Its RTSP server.
  public struct RTSP: Codable, Equatable, Sendable {
    /// Whether it listens.
    public var listening: Bool
    /// Its port; `nil` if it is not known.
    public var port: Int?
    /// The path of the stream.
    public var path: String
    /// Whether a user and a password are asked for.
    public var asksPassword: Bool
  }

  /// The picture.
  public struct Picture: Codable, Equatable, Sendable {
    /// Its width as shown, pixels.
    public var width: Int
    /// Its height as shown, pixels.
    public var height: Int
  }

  /// A recording.
  public struct Recording: Codable, Equatable, Sendable {
    /// `starting`, `running`, `stopped`, `full` or `failed`.
    public var state: String
    /// The file.
    public var path: String
    /// Its size so far, bytes.
    public var bytes: Int
  }

  /// What it does.
  public var state: Mode
  /// Why, in words.
  public var reason: String
  /// What makes it work again; `nil` when it does.
  public var wayOut: String?
  /// Its RTSP server.
  public var rtsp: RTSP
  /// The picture.
  public var picture: Picture
  /// The folder of recordings; `nil` if none is configured.
  public var recordFolder: String?
  /// The last recording; `nil` if there was none.
  public var recording: Recording?
}
