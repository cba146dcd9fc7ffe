/// A report from the video process to the daemon.
public enum VideoReport: Sendable, Hashable {
  /// The process runs and waits for its settings.
  case hello
  case choice(VideoChoice)
  case camera(VideoCameraState)
  case rtsp(VideoRTSPState)
  /// The statistics, sent every half second and also serving as a heartbeat.
  case statistics(VideoStatistics)
  /// The initialisation segment that an MP4 player needs before the first fragment. `codec` is the name according to RFC 6381, such as
  /// `avc1.42C01F`.
  case initialisation(codec: String, bytes: [UInt8])
  /// A fragment of the MP4 stream, which holds one frame. `isKey` tells whether the frame is a key frame.
  case fragment(isKey: Bool, bytes: [UInt8])
  case picture([UInt8])
  case recording(VideoRecording)
  case cameras([VideoCamera])
  /// The detector's result, which is sent for each picture that the detector was given, and each time the detector ends.
  case detection(VideoDetection)
  /// The answer to a viewer's offer: a session description of at most `WebRTCOffer.limit` bytes. Frames follow once the
  /// viewer is connected.
  case answer(session: UInt64, String)
  /// A session of WebRTC has ended, or could not begin. The report is not sent if the daemon has ended the session.
  case ended(session: UInt64, WebRTCEnd)
}

extension VideoReport {
  /// The bytes of the message on the socket.
  public var bytes: [UInt8] {
    var fields = VideoFieldWriter()
    switch self {
    case .hello: break
    case .choice(let choice): choice.write(into: &fields)
    case .camera(let state): state.write(into: &fields)
    case .rtsp(let state): state.write(into: &fields)
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
    case .answer(let session, let text):
      fields.add(session)
      fields.add(text)
    case .ended(let session, let end):
      fields.add(session)
      end.write(into: &fields)
    }
    return VideoMessages.framed(kind, fields)
  }

  private var kind: UInt8 {
    switch self {
    case .hello: 65
    case .choice: 66
    case .camera: 67
    case .rtsp: 68
    case .statistics: 69
    case .initialisation: 70
    case .fragment: 71
    case .picture: 72
    case .recording: 73
    case .cameras: 74
    case .detection: 75
    case .answer: 76
    case .ended: 77
    }
  }

  init(kind: UInt8, _ bytes: ArraySlice<UInt8>) throws(VideoMessageError) {
    var fields = VideoFieldReader(bytes)
    switch kind {
    case 65: self = .hello
    case 66: self = .choice(try VideoChoice(&fields))
    case 67: self = .camera(try VideoCameraState(&fields))
    case 68: self = .rtsp(try VideoRTSPState(&fields))
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
    case 76:
      let session: UInt64 = try fields.integer("session")
      let text = try fields.text("answer")
      guard text.utf8.count <= WebRTCOffer.limit else { throw .invalid("answer") }
      self = .answer(session: session, text)
    case 77: self = .ended(session: try fields.integer("session"), try WebRTCEnd(&fields))
    default: throw .unknownKind(kind)
    }
    try fields.end()
  }
}
