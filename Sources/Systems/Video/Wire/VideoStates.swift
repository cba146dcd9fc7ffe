/// The source and encoder chosen by the video process, and the reasons for the choice.
public struct VideoChoice: Sendable, Hashable {
  /// The source's GStreamer element, such as `v4l2src device=/dev/video0`.
  public var source: String
  public var sourceReason: String
  /// The encoder's GStreamer element, such as `x264enc`.
  public var encoder: String
  public var encoderReason: String

  public init(source: String, sourceReason: String, encoder: String, encoderReason: String) {
    (self.source, self.sourceReason, self.encoder, self.encoderReason) = (
      source, sourceReason, encoder, encoderReason
    )
  }

  func write(into fields: inout VideoFieldWriter) {
    for text in [source, sourceReason, encoder, encoderReason] { fields.add(text) }
  }

  init(_ fields: inout VideoFieldReader) throws(VideoMessageError) {
    source = try fields.text("source")
    sourceReason = try fields.text("source's reason")
    encoder = try fields.text("encoder")
    encoderReason = try fields.text("encoder's reason")
  }
}

/// The state of camera and encoder, which run only while there is a viewer or another use of the pictures.
public struct VideoCameraState: Sendable, Hashable {
  public enum Phase: UInt8, Sendable, Hashable, CaseIterable {
    /// The camera is off because its pictures are not needed.
    case idle
    case starting
    case running
    /// The camera has failed. It is restarted automatically as long as its pictures are needed.
    case failed
  }

  public var phase: Phase
  /// The cause of the failure, as GStreamer reports it; empty unless the phase is `failed`.
  public var cause: String
  /// The time from the failure to the next attempt, in ms; 0 unless the phase is `failed`.
  public var retryMilliseconds: UInt32

  public init(_ phase: Phase, cause: String = "", retryMilliseconds: UInt32 = 0) {
    (self.phase, self.cause, self.retryMilliseconds) = (phase, cause, retryMilliseconds)
  }

  func write(into fields: inout VideoFieldWriter) {
    fields.add(phase.rawValue)
    fields.add(cause)
    fields.add(retryMilliseconds)
  }

  init(_ fields: inout VideoFieldReader) throws(VideoMessageError) {
    phase = try fields.word("phase")
    cause = try fields.text("cause")
    retryMilliseconds = try fields.integer("retry")
  }
}

/// The state of the RTSP port.
public struct VideoRTSPState: Sendable, Hashable {
  /// The port number in effect; 0 if the server is not listening.
  public var port: UInt16
  /// The reason why the server is not listening, or listens and does not answer; empty if it works.
  public var cause: String

  public init(port: UInt16, cause: String = "") { (self.port, self.cause) = (port, cause) }

  func write(into fields: inout VideoFieldWriter) {
    fields.add(port)
    fields.add(cause)
  }

  init(_ fields: inout VideoFieldReader) throws(VideoMessageError) {
    port = try fields.integer("port")
    cause = try fields.text("cause")
  }
}

/// A recording in progress or ended.
public struct VideoRecording: Sendable, Hashable {
  public enum Phase: UInt8, Sendable, Hashable, CaseIterable {
    /// The recording waits for the first key frame.
    case starting
    case running
    case stopped
    /// The recording has ended because the file has reached its size limit.
    case full
    case failed
  }

  public var phase: Phase
  public var path: String
  public var bytes: UInt64
  /// The reason why the recording failed; empty in other phases.
  public var cause: String

  public init(_ phase: Phase, path: String, bytes: UInt64 = 0, cause: String = "") {
    (self.phase, self.path, self.bytes, self.cause) = (phase, path, bytes, cause)
  }

  func write(into fields: inout VideoFieldWriter) {
    fields.add(phase.rawValue)
    fields.add(path)
    fields.add(bytes)
    fields.add(cause)
  }

  init(_ fields: inout VideoFieldReader) throws(VideoMessageError) {
    phase = try fields.word("phase")
    path = try fields.text("path")
    bytes = try fields.integer("bytes")
    cause = try fields.text("cause")
  }
}

/// A camera that is connected to the computer.
public struct VideoCamera: Sendable, Hashable {
  /// The camera's model, for people.
  public var name: String
  /// The driver framework: `libcamera` or `v4l2`.
  public var kind: String
  /// The value that selects this camera in the configuration key `camera.device`.
  public var device: String
  /// The camera's location: `front`, `back` or `external`; empty if not known.
  public var location: String
  /// The picture formats, such as `raw 640×480 YUY2 30/1`; at most 255 are sent.
  public var modes: [String]

  public init(name: String, kind: String, device: String, location: String, modes: [String]) {
    (self.name, self.kind, self.device, self.location, self.modes) = (name, kind, device, location, modes)
  }

  /// Creates a camera from a line of `tactus-cameras`: libcamera's name of the camera, model, location and modes, separated by tabs. A
  /// camera without a model is named by libcamera's name. Returns `nil` if the line does not have this form.
  public init?(libcameraLine line: Substring) {
    let words = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    guard words.count >= 3, !words[0].isEmpty else { return nil }
    self.init(
      name: words[1].isEmpty ? words[0] : words[1], kind: "libcamera", device: words[0], location: words[2],
      modes: Array(words[3...]))
  }

  func write(into fields: inout VideoFieldWriter) {
    for text in [name, kind, device, location] { fields.add(text) }
    fields.add(UInt8(clamping: min(modes.count, 255)))
    for mode in modes.prefix(255) { fields.add(mode) }
  }

  init(_ fields: inout VideoFieldReader) throws(VideoMessageError) {
    name = try fields.text("name")
    kind = try fields.text("kind")
    device = try fields.text("device")
    location = try fields.text("location")
    let count: UInt8 = try fields.integer("modes")
    modes = []
    for _ in 0..<count { modes.append(try fields.text("mode")) }
  }
}
