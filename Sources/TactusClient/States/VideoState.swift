/// The state of the camera, as `GET /api/video` reports it.
public struct VideoState: Codable, Equatable, Sendable {
  /// The activity of the camera.
  public struct Mode: DaemonWord {
    /// The daemon's word for the activity.
    public var rawValue: String
    /// Creates an activity from any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The video process is not running.
    public static let down: Mode = "down"
    /// There are no viewers.
    public static let idle: Mode = "idle"
    /// The camera is starting.
    public static let starting: Mode = "starting"
    /// The camera delivers pictures.
    public static let running: Mode = "running"
    /// The camera has failed, and another attempt follows.
    public static let failed: Mode = "failed"
    /// All words that this client knows.
    public static let known: [Mode] = [.down, .idle, .starting, .running, .failed]
  }

  /// The state of the RTSP server.
  public struct RTSP: Codable, Equatable, Sendable {
    /// Whether the server is listening.
    public var listening: Bool
    /// The port of the server, or `nil` if it is unknown.
    public var port: Int?
    /// The path of the stream.
    public var path: String
    /// Whether a user name and a password are required.
    public var asksPassword: Bool
  }

  /// The size of the picture.
  public struct Picture: Codable, Equatable, Sendable {
    /// The width of the picture as shown, in pixels.
    public var width: Int
    /// The height of the picture as shown, in pixels.
    public var height: Int
  }

  /// The state of a recording.
  public struct Recording: Codable, Equatable, Sendable {
    /// The word for the state: `starting`, `running`, `stopped`, `full` or `failed`.
    public var state: String
    /// The name of the file.
    public var path: String
    /// The present size of the file, in bytes.
    public var bytes: Int
  }

  /// The activity of the camera.
  public var state: Mode
  /// The reason for the activity, in words.
  public var reason: String
  /// The action that makes the camera work again, or `nil` if it works.
  public var wayOut: String?
  /// The state of the RTSP server.
  public var rtsp: RTSP
  /// The size of the picture.
  public var picture: Picture
  /// The folder of recordings, or `nil` if none is configured.
  public var recordFolder: String?
  /// The last recording, or `nil` if there was none.
  public var recording: Recording?
}
