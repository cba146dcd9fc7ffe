/// Where pictures come from.
public enum VideoSource: UInt8, Sendable, Hashable, CaseIterable {
  /// The first of those below that this machine has; the test picture is always there.
  case automatic
  case libcamera
  case v4l2
  case test
  /// GStreamer elements of the user's own, which end in raw or JPEG pictures.
  case pipeline
}

/// What makes H.264 of them.
public enum VideoEncoder: UInt8, Sendable, Hashable, CaseIterable {
  /// The first of those below that this machine has.
  case automatic
  case v4l2h264enc
  case x264enc
  case openh264enc
}

/// All that the video process must know, sent once when it has started.
public struct VideoSettings: Sendable, Hashable {
  public var source = VideoSource.automatic
  /// `/dev/video0`, or libcamera's name of a camera; empty: the first.
  public var device = ""
  /// For `source` pipeline: `v4l2src device=/dev/video2 ! image/jpeg ! jpegdec`.
  public var pipeline = ""
  public var encoder = VideoEncoder.automatic
  /// Of the camera, before it is rotated, in pixels.
  public var width: UInt16 = 640
  public var height: UInt16 = 480
  public var framesPerSecond: UInt16 = 30
  public var bitsPerSecond: UInt32 = 2_000_000
  /// Degrees clockwise: 0, 90, 180, 270.
  public var rotation: UInt16 = 0
  /// From one key frame to the next, in frames.
  public var keyFrameInterval: UInt16 = 30
  /// A clock is drawn in the picture: see `DrawnClock`.
  public var drawsClock = false
  /// Most JPEG pictures a second.
  public var picturesPerSecond: UInt8 = 10
  public var detector = VideoDetector()

  /// RTSP: in digits, as the daemon's other addresses.
  public var bindAddress = "127.0.0.1"
  public var port: UInt16 = 8554
  /// RTSP digest. If it is empty, everyone who reaches the port may look.
  public var user = ""
  /// A secret.
  public var password = ""
  public var viewerLimit: UInt16 = 16

  public init() {}
}

extension VideoSettings {
  func write(into fields: inout VideoFieldWriter) {
    fields.add(source.rawValue)
    fields.add(device)
    fields.add(pipeline)
    fields.add(encoder.rawValue)
    fields.add(width)
    fields.add(height)
    fields.add(framesPerSecond)
    fields.add(bitsPerSecond)
    fields.add(rotation)
    fields.add(keyFrameInterval)
    fields.add(drawsClock)
    fields.add(picturesPerSecond)
    detector.write(into: &fields)
    fields.add(bindAddress)
    fields.add(port)
    fields.add(user)
    fields.add(password)
    fields.add(viewerLimit)
  }

  init(_ fields: inout VideoFieldReader) throws(VideoMessageError) {
    source = try fields.word("source")
    device = try fields.text("device")
    pipeline = try fields.text("pipeline")
    encoder = try fields.word("encoder")
    width = try fields.integer("width")
    height = try fields.integer("height")
    framesPerSecond = try fields.integer("frames per second")
    bitsPerSecond = try fields.integer("bits per second")
    rotation = try fields.integer("rotation")
    keyFrameInterval = try fields.integer("key-frame interval")
    drawsClock = try fields.boolean("clock")
    picturesPerSecond = try fields.integer("pictures per second")
    detector = try VideoDetector(&fields)
    bindAddress = try fields.text("bind address")
    port = try fields.integer("port")
    user = try fields.text("user")
    password = try fields.text("password")
    viewerLimit = try fields.integer("viewer limit")
    guard width > 0, height > 0 else { throw .invalid("size") }
    guard framesPerSecond > 0, keyFrameInterval > 0, picturesPerSecond > 0 else { throw .invalid("rate") }
    guard [0, 90, 180, 270].contains(rotation) else { throw .invalid("rotation") }
  }
}
