import Wire

/// What is configured of the video and shows in its document.
public struct VideoDescription: Sendable {
  public var width: Int
  public var height: Int
  public var framesPerSecond: Int
  public var bitsPerSecond: Int
  public var rotation: Int
  public var keyFrameInterval: Int
  /// RTSP asks for a user and a password.
  public var asksPassword: Bool
  /// There is a detector.
  public var detects: Bool
  /// Of HTTP streams and, apart from them, of RTSP.
  public var viewerLimit: Int
  /// Where recordings go; nil: there are none.
  public var recordFolder: String?
  public var recordLimitBytes: UInt64

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
