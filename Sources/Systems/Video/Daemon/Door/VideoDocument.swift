import Service
import Tactus
import Wire

/// The video as `GET /api/video` shows it.
struct VideoDocument: Encodable {
  struct Process: Encodable {
    @OrNull var id: Int32?
    let starts, ends: Int64
    @OrNull var cause: String?
    @OrNull var retryMs: Double?
  }
  struct Elements: Codable {
    let source, sourceReason, encoder, encoderReason: String
  }
  struct Door: Encodable {
    let listening: Bool
    @OrNull var port: Int?
    let path: String
    let asksPassword: Bool
    @OrNull var cause: String?
  }
  struct Picture: Encodable {
    let width, height, framesPerSecond, bitsPerSecond, rotation, keyFrameInterval: Int
  }
  struct Viewers: Encodable {
    let rtsp, mp4, mjpeg, limit: Int
  }
  struct Counters: Encodable {
    let frames, keyFrames, encodedBytes, pictures, starts, failures: UInt64
    let framesPerSecond, bitsPerSecond: UInt32
    @OrNull var encodeMeanMs: Double?
    @OrNull var encodeWorstMs: Double?
    /// From somebody's wish to the first encoded frame, the last time.
    @OrNull var firstFrameMs: Double?
    let viewersEver, viewersRefused, fragmentsDropped: UInt64
  }
  struct Recording: Codable {
    let state, path: String
    let bytes: UInt64
    @OrNull var cause: String?
  }

  let ok: Bool?
  let state: String
  let reason: String
  @OrNull var wayOut: String?
  let process: Process
  @OrNull var elements: Elements?
  let rtsp: Door
  let picture: Picture
  let viewers: Viewers
  let statistics: Counters
  let detection: VideoDetectionDocument
  /// Where recordings are kept, or `nil` if nothing can be recorded.
  @OrNull var recordFolder: String?
  @OrNull var recording: Recording?

  init(_ state: VideoDoor.State, _ description: VideoDescription, at now: TickInstant, ok: Bool? = nil) {
    self.ok = ok
    let words = VideoWords(state)
    (self.state, reason) = (words.state, words.reason)
    _wayOut = OrNull(wrappedValue: words.wayOut)
    process = Process(
      id: state.process.process, starts: state.process.starts, ends: state.process.ends, cause: state.process.cause,
      retryMs: state.process.nextStart.map { max(.zero, $0 - now).inMilliseconds })
    _elements = OrNull(
      wrappedValue: state.choice.map {
        Elements(
          source: $0.source, sourceReason: $0.sourceReason, encoder: $0.encoder, encoderReason: $0.encoderReason)
      })
    let port = state.door.port
    rtsp = Door(
      listening: port > 0, port: port > 0 ? Int(port) : nil, path: "/stream", asksPassword: description.asksPassword,
      cause: state.door.cause.isEmpty ? nil : state.door.cause)
    picture = Picture(
      width: description.width, height: description.height, framesPerSecond: description.framesPerSecond,
      bitsPerSecond: description.bitsPerSecond, rotation: description.rotation,
      keyFrameInterval: description.keyFrameInterval)
    viewers = Viewers(
      rtsp: Int(state.statistics.viewers), mp4: state.count(.fragments), mjpeg: state.count(.pictures),
      limit: description.viewerLimit)
    let counted = state.statistics
    func milliseconds(_ value: UInt64) -> Double? { value == 0 ? nil : Double(value / 1000) / 1000 }
    statistics = Counters(
      frames: counted.frames, keyFrames: counted.keyFrames, encodedBytes: counted.encodedBytes,
      pictures: counted.pictures, starts: counted.starts, failures: counted.failures,
      framesPerSecond: counted.framesLastSecond, bitsPerSecond: counted.bitsLastSecond,
      encodeMeanMs: milliseconds(counted.encodeMean), encodeWorstMs: milliseconds(counted.encodeWorst),
      firstFrameMs: milliseconds(counted.firstFrame), viewersEver: counted.viewersEver,
      viewersRefused: counted.viewersRefused, fragmentsDropped: counted.fragmentsDropped)
    detection = VideoDetectionDocument(state, description, at: now)
    _recordFolder = OrNull(wrappedValue: description.recordFolder)
    _recording = OrNull(
      wrappedValue: state.recording.map {
        Recording(
          state: "\($0.phase)", path: $0.path, bytes: $0.bytes, cause: $0.cause.isEmpty ? nil : $0.cause)
      })
  }
}

/// What the video does, why, and what to do about it: of its document and of every change.
struct VideoWords: Encodable, Equatable {
  let state: String
  let reason: String
  @OrNull var wayOut: String?

  static let states = ["down", "idle", "starting", "running", "failed"]

  init(_ state: VideoDoor.State) {
    guard state.process.process != nil else {
      self.state = "down"
      reason = "the video process does not run" + (state.process.cause.map { ": \($0)" } ?? "")
      _wayOut = OrNull(wrappedValue: "it is started again by itself")
      return
    }
    switch state.camera.phase {
    case .idle: (self.state, reason) = ("idle", "nobody looks")
    case .starting: (self.state, reason) = ("starting", "the camera starts")
    case .running: (self.state, reason) = ("running", "somebody looks")
    case .failed: (self.state, reason) = ("failed", state.camera.cause)
    }
    let advice: String? =
      if state.camera.phase == .failed {
        "it is tried again by itself while somebody looks; `tactus doctor` lists the cameras"
      } else if !state.door.cause.isEmpty {
        "RTSP is tried again by itself; free the port or set network.rtsp_port to another"
      } else {
        nil
      }
    _wayOut = OrNull(wrappedValue: advice)
  }

  static func == (left: Self, right: Self) -> Bool {
    left.state == right.state && left.reason == right.reason && left.wayOut == right.wayOut
  }
}
