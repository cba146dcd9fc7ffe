/// What the daemon tells its video process.
public enum VideoOrder: Sendable, Hashable {
  /// First, and once.
  case settings(VideoSettings)
  /// What the daemon has takers for: fragments of MP4, JPEG pictures. Told again for each new taker of fragments, who needs a
  /// key frame to begin with.
  case want(fragments: Bool, pictures: Bool)
  /// Records into a new file until it has so many bytes, or until told to stop.
  case record(path: String, limitBytes: UInt64)
  case stopRecording
  case listCameras
}

extension VideoOrder {
  /// As it goes over the socket.
  public var bytes: [UInt8] {
    var fields = VideoFieldWriter()
    switch self {
    case .settings(let settings): settings.write(into: &fields)
    case .want(let fragments, let pictures):
      fields.add(fragments)
      fields.add(pictures)
    case .record(let path, let limit):
      fields.add(path)
      fields.add(limit)
    case .stopRecording, .listCameras: break
    }
    return VideoMessages.framed(kind, fields)
  }

  private var kind: UInt8 {
    switch self {
    case .settings: 1
    case .want: 2
    case .record: 3
    case .stopRecording: 4
    case .listCameras: 5
    }
  }

  init(kind: UInt8, _ bytes: ArraySlice<UInt8>) throws(VideoMessageError) {
    var fields = VideoFieldReader(bytes)
    switch kind {
    case 1: self = .settings(try VideoSettings(&fields))
    case 2: self = .want(fragments: try fields.boolean("fragments"), pictures: try fields.boolean("pictures"))
    case 3: self = .record(path: try fields.text("path"), limitBytes: try fields.integer("limit"))
    case 4: self = .stopRecording
    case 5: self = .listCameras
    default: throw .unknownKind(kind)
    }
    try fields.end()
  }
}
