/// An order from the daemon to its video process.
public enum VideoOrder: Sendable, Hashable {
  /// Applies the settings. The order is sent once, as the first one.
  case settings(VideoSettings)
  /// Starts or stops the sending of MP4 fragments and of JPEG pictures, as the daemon's viewers need. The order is sent again for each new viewer of
  /// fragments, who needs a key frame to begin with.
  case want(fragments: Bool, pictures: Bool)
  /// Records into a new file, up to the given number of bytes or until the order to stop.
  case record(path: String, limitBytes: UInt64)
  case stopRecording
  case listCameras
  /// Answers a viewer's offer of WebRTC, and sends the viewer frames from then on. The daemon assigns the session's number.
  case open(session: UInt64, WebRTCOffer)
  /// Ends a session. It is not an error if the session has ended already.
  case close(session: UInt64)
  /// The longest time that a frame has waited in the daemon for a viewer who reads, in milliseconds.
  case waits(milliseconds: UInt32)
}

extension VideoOrder {
  /// The bytes of the message on the socket.
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
    case .open(let session, let offer):
      fields.add(session)
      fields.add(offer.text)
    case .close(let session): fields.add(session)
    case .waits(let milliseconds): fields.add(milliseconds)
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
    case .open: 6
    case .close: 7
    case .waits: 8
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
    case 6: self = .open(session: try fields.integer("session"), try WebRTCOffer(&fields))
    case 7: self = .close(session: try fields.integer("session"))
    case 8: self = .waits(milliseconds: try fields.integer("wait"))
    default: throw .unknownKind(kind)
    }
    try fields.end()
  }
}

extension WebRTCOffer {
  init(_ fields: inout VideoFieldReader) throws(VideoMessageError) {
    let bytes = try fields.bytes("offer")
    do {
      self = try Self.decode(bytes)
    } catch {
      throw .invalid("offer")
    }
  }
}
