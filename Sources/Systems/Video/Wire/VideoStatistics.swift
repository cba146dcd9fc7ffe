/// What the video process has counted since it started.
public struct VideoStatistics: Sendable, Hashable {
  /// Encoded.
  public var frames: UInt64 = 0
  public var keyFrames: UInt64 = 0
  public var encodedBytes: UInt64 = 0
  /// JPEG pictures made.
  public var pictures: UInt64 = 0
  /// Of the last whole second.
  public var framesLastSecond: UInt32 = 0
  public var bitsLastSecond: UInt32 = 0
  /// From a raw frame's arrival at the encoder to its end there: the last second's mean and worst, in nanoseconds; 0: none.
  public var encodeMean: UInt64 = 0
  public var encodeWorst: UInt64 = 0
  /// From the wish for pictures to the first encoded frame, the last time; 0: never yet.
  public var firstFrame: UInt64 = 0
  /// RTSP: playing now, ever, and turned away.
  public var viewers: UInt32 = 0
  public var viewersEver: UInt64 = 0
  public var viewersRefused: UInt64 = 0
  /// Of camera and encoder.
  public var starts: UInt64 = 0
  public var failures: UInt64 = 0
  /// Fragments that the daemon was too slow to take.
  public var fragmentsDropped: UInt64 = 0

  public init() {}

  func write(into fields: inout VideoFieldWriter) {
    for value in [frames, keyFrames, encodedBytes, pictures] { fields.add(value) }
    fields.add(framesLastSecond)
    fields.add(bitsLastSecond)
    for value in [encodeMean, encodeWorst, firstFrame] { fields.add(value) }
    fields.add(viewers)
    for value in [viewersEver, viewersRefused, starts, failures, fragmentsDropped] { fields.add(value) }
  }

  init(_ fields: inout VideoFieldReader) throws(VideoMessageError) {
    frames = try fields.integer("frames")
    keyFrames = try fields.integer("key frames")
    encodedBytes = try fields.integer("encoded bytes")
    pictures = try fields.integer("pictures")
    framesLastSecond = try fields.integer("frames of a second")
    bitsLastSecond = try fields.integer("bits of a second")
    encodeMean = try fields.integer("encode mean")
    encodeWorst = try fields.integer("encode worst")
    firstFrame = try fields.integer("first frame")
    viewers = try fields.integer("viewers")
    viewersEver = try fields.integer("viewers ever")
    viewersRefused = try fields.integer("viewers refused")
    starts = try fields.integer("starts")
    failures = try fields.integer("failures")
    fragmentsDropped = try fields.integer("fragments dropped")
  }
}
