/// The counts of the video process since its start.
public struct VideoStatistics: Sendable, Hashable {
  /// The number of frames that were encoded.
  public var frames: UInt64 = 0
  public var keyFrames: UInt64 = 0
  public var encodedBytes: UInt64 = 0
  /// The number of JPEG pictures that were made.
  public var pictures: UInt64 = 0
  /// The number of frames encoded in the last whole second.
  public var framesLastSecond: UInt32 = 0
  /// The number of bits encoded in the last whole second.
  public var bitsLastSecond: UInt32 = 0
  /// The mean time from a raw frame's arrival at the encoder to the end of its encoding in the last second, in nanoseconds; 0 if there
  /// was no frame.
  public var encodeMean: UInt64 = 0
  /// The longest time from a raw frame's arrival at the encoder to the end of its encoding in the last second, in
  /// nanoseconds; 0 if there was no frame.
  public var encodeWorst: UInt64 = 0
  /// The time from the last request for pictures to the first encoded frame, in nanoseconds; 0 if there has been none.
  public var firstFrame: UInt64 = 0
  /// The number of RTSP viewers that are playing now.
  public var viewers: UInt32 = 0
  /// The number of RTSP viewers that have ever played.
  public var viewersEver: UInt64 = 0
  /// The number of RTSP viewers that were rejected.
  public var viewersRefused: UInt64 = 0
  /// The number of times that camera and encoder were started.
  public var starts: UInt64 = 0
  /// The number of failures of camera and encoder.
  public var failures: UInt64 = 0
  /// The number of fragments dropped because the daemon was too slow to read them.
  public var fragmentsDropped: UInt64 = 0
  /// The bit rate that the encoder is asked for, in bits a second; 0 before the settings are known.
  public var rateBits: UInt32 = 0
  /// The greatest number of frames a second that the encoder is given.
  public var rateFrames: UInt16 = 0
  public var rateCause = StreamRate.Cause.configured
  /// The share of packets that the viewer with the worst link has lost, in thousandths.
  public var lostThousandths: UInt16 = 0
  /// The time for which data waits in the network to the viewer with the worst link, in milliseconds.
  public var waitMilliseconds: UInt32 = 0

  public init() {}

  func write(into fields: inout VideoFieldWriter) {
    for value in [frames, keyFrames, encodedBytes, pictures] { fields.add(value) }
    fields.add(framesLastSecond)
    fields.add(bitsLastSecond)
    for value in [encodeMean, encodeWorst, firstFrame] { fields.add(value) }
    fields.add(viewers)
    for value in [viewersEver, viewersRefused, starts, failures, fragmentsDropped] { fields.add(value) }
    fields.add(rateBits)
    fields.add(rateFrames)
    fields.add(rateCause.rawValue)
    fields.add(lostThousandths)
    fields.add(waitMilliseconds)
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
    rateBits = try fields.integer("bits of the rate")
    rateFrames = try fields.integer("frames of the rate")
    rateCause = try fields.word("cause of the rate")
    lostThousandths = try fields.integer("lost")
    waitMilliseconds = try fields.integer("wait")
  }
}
