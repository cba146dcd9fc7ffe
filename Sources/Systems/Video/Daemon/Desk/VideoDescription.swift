@_spi(FromOutside) import Conversions
import Video

/// The configured values that the video's document shows.
public struct VideoDescription: Sendable {
  var width: Int
  var height: Int
  var framesPerSecond: Int
  var bitsPerSecond: Int
  var rotation: Int
  var keyFrameInterval: Int
  /// Whether RTSP requires a user name and a password.
  var asksPassword: Bool
  /// Whether a detector is configured.
  var detects: Bool
  /// The limit of viewers, which holds for HTTP streams and separately for RTSP.
  var viewerLimit: Int
  /// The folder for recordings, or `nil` if recording is not configured.
  var recordFolder: String?
  var recordLimitBytes: UInt64

  /// Creates the description for the default values of all keys.
  public init() { self.init(VideoSettings(), recordFolder: nil, recordLimitBytes: 0) }

  /// Takes the values from the settings of the video process.
  ///
  /// - Parameters:
  ///   - recordFolder: the folder for recordings, or `nil` if recording is not configured.
  ///   - recordLimitBytes: the size limit of a recording in bytes.
  public init(_ settings: VideoSettings, recordFolder: String?, recordLimitBytes: UInt64) {
    let isTurned = settings.rotation % 180 != 0
    width = Int(isTurned ? settings.height : settings.width)
    height = Int(isTurned ? settings.width : settings.height)
    framesPerSecond = Int(settings.framesPerSecond)
    bitsPerSecond = Int(settings.bitsPerSecond)
    rotation = Int(settings.rotation)
    keyFrameInterval = Int(settings.keyFrameInterval)
    asksPassword = !settings.user.isEmpty
    detects = !settings.detector.command.isEmpty
    viewerLimit = Int(settings.viewerLimit)
    self.recordFolder = recordFolder
    self.recordLimitBytes = recordLimitBytes
  }
}
