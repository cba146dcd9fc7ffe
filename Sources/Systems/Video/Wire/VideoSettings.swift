/// The source of pictures.
public enum VideoSource: UInt8, Sendable, Hashable, CaseIterable {
  /// The first available source in the order of the cases below; the test picture is always available.
  case automatic
  case libcamera
  case v4l2
  case test
  /// A GStreamer pipeline given by the user, which must deliver raw or JPEG pictures.
  case pipeline
}

/// The encoder that turns pictures into H.264.
public enum VideoEncoder: UInt8, Sendable, Hashable, CaseIterable {
  /// The first available encoder in the order of the cases below.
  case automatic
  case v4l2h264enc
  case x264enc
  case openh264enc
}

/// The settings of the video process, sent once after its start.
public struct VideoSettings: Sendable, Hashable {
  public var source = VideoSource.automatic
  /// The camera: `/dev/video0`, or its name in libcamera; if empty, the first camera.
  public var device = ""
  /// The GStreamer elements if `source` is `pipeline`, such as `v4l2src device=/dev/video2 ! image/jpeg ! jpegdec`.
  public var pipeline = ""
  public var encoder = VideoEncoder.automatic
  /// The width of the camera's picture before rotation, in pixels.
  public var width: UInt16 = 640
  /// The height of the camera's picture before rotation, in pixels.
  public var height: UInt16 = 480
  public var framesPerSecond: UInt16 = 30
  public var bitsPerSecond: UInt32 = 2_000_000
  /// The lower limit of the bit rate, whatever the viewers' links report; at most `bitsPerSecond`.
  public var lowestBitsPerSecond: UInt32 = 250_000
  /// The lower limit of the frame rate, whatever the viewers' links report; at most `framesPerSecond`.
  public var slowestFramesPerSecond: UInt16 = 10
  /// The rotation of the picture in degrees clockwise: 0, 90, 180, 270.
  public var rotation: UInt16 = 0
  /// The distance between two key frames, in frames.
  public var keyFrameInterval: UInt16 = 30
  /// Whether a clock is drawn into the picture; see `DrawnClock`.
  public var drawsClock = false
  /// The highest number of JPEG pictures a second.
  public var picturesPerSecond: UInt8 = 10
  public var detector = VideoDetector()

  /// The address on which RTSP is served, in digits, as the daemon's other addresses.
  public var bindAddress = "127.0.0.1"
  public var port: UInt16 = 8554
  /// The user name for RTSP digest authentication. If it is empty, every client that reaches the port may watch.
  public var user = ""
  /// The password for RTSP digest authentication, a secret.
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
    fields.add(lowestBitsPerSecond)
    fields.add(slowestFramesPerSecond)
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
    lowestBitsPerSecond = try fields.integer("lowest bits per second")
    slowestFramesPerSecond = try fields.integer("slowest frames per second")
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
