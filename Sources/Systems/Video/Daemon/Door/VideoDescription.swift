import Video

/// What is configured of the video and shows in its document.
public struct VideoDescription: Sendable {
  var width: Int
  var height: Int
  var framesPerSecond: Int
  var bitsPerSecond: Int
  var rotation: Int
  var keyFrameInterval: Int
  /// RTSP asks for a user and a password.
  var asksPassword: Bool
  /// There is a detector.
  var detects: Bool
  /// Of HTTP streams and, apart from them, of RTSP.
  var viewerLimit: Int
  /// Where recordings go, or `nil` if there are none.
  var recordFolder: String?
  var recordLimitBytes: UInt64

  /// - Parameters:
  ///   - recordFolder: where recordings go, or `nil` if there are none.
  ///   - recordLimitBytes: how large one may become.
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
