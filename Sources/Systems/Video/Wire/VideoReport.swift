/// What the video process tells the daemon.
public enum VideoReport: Sendable, Hashable {
  /// It runs and waits for its settings.
  case hello
  case choice(VideoChoice)
  case camera(VideoCameraState)
  case door(VideoDoorState)
  /// Every half second: a sign of life, too.
  case statistics(VideoStatistics)
  /// What an MP4 player needs before the first fragment. `codec` as in RFC 6381: `avc1.42C01F`.
  case initialisation(codec: String, bytes: [UInt8])
  /// One frame.
  case fragment(isKey: Bool, bytes: [UInt8])
  case picture([UInt8])
  case recording(VideoRecording)
  case cameras([VideoCamera])
  /// For each picture that the detector was given, and for each of its ends.
  case detection(VideoDetection)
}

extension VideoReport {
  /// As it goes over the socket.
  public var bytes: [UInt8] {
    var fields = VideoFieldWriter()
    switch self {
    case .hello: break
    case .choice(let choice): choice.write(into: &fields)
    case .camera(let state): state.write(into: &fields)
    case .door(let state): state.write(into: &fields)
    case .statistics(let statistics): statistics.write(into: &fields)
    case .initialisation(let codec, let bytes):
      fields.add(codec)
      fields.add(bytes)
    case .fragment(let isKey, let bytes):
      fields.add(isKey)
      fields.add(bytes)
    case .picture(let bytes): fields.add(bytes)
    case .recording(let recording): recording.write(into: &fields)
    case .cameras(let cameras):
      fields.add(UInt8(clamping: min(cameras.count, 255)))
      for camera in cameras.prefix(255) { camera.write(into: &fields) }
    case .detection(let detection): detection.write(into: &fields)
    }
    return VideoMessages.framed(kind, fields)
  }

  private var kind: UInt8 {
    switch self {
    case .hello: 65
    case .choice: 66
    case .camera: 67
    case .door: 68
    case .statistics: 69
    case .initialisation: 70
    case .fragment: 71
    case .picture: 72
    case .recording: 73
    case .cameras: 74
    case .detection: 75
    }
  }

  init(kind: UInt8, _ bytes: ArraySlice<UInt8>) throws(VideoMessageError) {
    var fields = VideoFieldReader(bytes)
    switch kind {
    case 65: self = .hello
    case 66: self = .choice(try VideoChoice(&fields))
    case 67: self = .camera(try VideoCameraState(&fields))
    case 68: self = .door(try VideoDoorState(&fields))
    case 69: self = .statistics(try VideoStatistics(&fields))
    case 70: self = .initialisation(codec: try fields.text("codec"), bytes: try fields.bytes("initialisation"))
    case 71: self = .fragment(isKey: try fields.boolean("key"), bytes: try fields.bytes("fragment"))
    case 72: self = .picture(try fields.bytes("picture"))
    case 73: self = .recording(try VideoRecording(&fields))
    case 74:
      let count: UInt8 = try fields.integer("cameras")
      var cameras: [VideoCamera] = []
      for _ in 0..<count { cameras.append(try VideoCamera(&fields)) }
      self = .cameras(cameras)
    case 75: self = .detection(try VideoDetection(&fields))
    default: throw .unknownKind(kind)
    }
    try fields.end()
  }
}
