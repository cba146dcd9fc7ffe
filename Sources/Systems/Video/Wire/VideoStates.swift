/// What the video process took of what the settings left open, and why.
public struct VideoChoice: Sendable, Hashable {
  /// `v4l2src device=/dev/video0`
  public var source: String
  public var sourceReason: String
  /// `x264enc`
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

/// Camera and encoder, which run while somebody looks.
public struct VideoCameraState: Sendable, Hashable {
  public enum Phase: UInt8, Sendable, Hashable, CaseIterable {
    /// There is no viewer.
    case idle
    case starting
    case running
    /// Tried again by itself as long as somebody looks.
    case failed
  }

  public var phase: Phase
  /// Of `failed`: what happened, as GStreamer says it.
  public var cause: String
  /// Of `failed`: from the failure to the next attempt.
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

/// The RTSP port.
public struct VideoDoorState: Sendable, Hashable {
  /// In effect; 0: not listening.
  public var port: UInt16
  /// Why it does not listen.
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

/// A file that is or was recorded.
public struct VideoRecording: Sendable, Hashable {
  public enum Phase: UInt8, Sendable, Hashable, CaseIterable {
    /// Waits for the first key frame.
    case starting
    case running
    case stopped
    /// The file has the size that it may have.
    case full
    case failed
  }

  public var phase: Phase
  public var path: String
  public var bytes: UInt64
  /// Of `failed`.
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

/// A camera of this machine.
public struct VideoCamera: Sendable, Hashable {
  /// For people: the model.
  public var name: String
  /// libcamera or v4l2.
  public var kind: String
  /// What `camera.device` takes.
  public var device: String
  /// front, back, external; empty: unknown.
  public var location: String
  /// `raw 640×480 YUY2 30/1`; at most 255 go over the wire.
  public var modes: [String]

  public init(name: String, kind: String, device: String, location: String, modes: [String]) {
    (self.name, self.kind, self.device, self.location, self.modes) = (name, kind, device, location, modes)
  }

  /// A line of `tactus-cameras`: libcamera's name of the camera, model, location, modes, tabs between. A camera without a model goes by
  /// its other name. Nil: no such line.
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
