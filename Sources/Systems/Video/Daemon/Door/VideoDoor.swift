import HTTPTypes
import Service
import Synchronization
import Tactus
import Video
import Wire

/// The camera behind the door: `/api/video`, its streams and its events.
///
/// What the video process reports comes in by `take`, on the thread that watches over it; what that process is to do goes out by
/// `order`. Nothing here waits for it, but requests that ask it something.
public final class VideoDoor: ServedSystem {
  struct State: Sendable {
    var process = VideoProcessReport()
    var choice: VideoChoice?
    var camera = VideoCameraState(.idle)
    var door = VideoDoorState(port: 0)
    var statistics = VideoStatistics()
    var recording: VideoRecording?
    var detection: (detection: VideoDetection, at: TickInstant)?
    /// An answer that subscribers have not been told of.
    var hasNewObjects = false
    var initialisation: (codec: String, bytes: [UInt8])?
    var viewers: [Int: VideoViewer] = [:]
    var lastNumber = 0
    /// Of viewers that have left.
    var dropped: Int64 = 0
    var edges: [Event] = []
    var told: VideoWords?
    var cameraAskers: [(at: TickInstant, CheckedContinuation<[VideoCamera]?, Never>)] = []

    func count(_ kind: VideoViewer.Kind) -> Int { viewers.values.count { $0.kind == kind } }
  }

  public let name = "video"
  private let door = Mutex(State())
  private let changes = Atomic<UInt64>(0)
  private let described: Mutex<VideoDescription>
  private let order: @Sendable (VideoOrder) -> Void
  private let now: @Sendable () -> TickInstant
  private let fileName: @Sendable () -> String

  /// - Parameters:
  ///   - order: to the video process; lost when there is none. Any thread.
  ///   - fileName: of a new recording, without its folder: one that no other has.
  public init(
    _ description: VideoDescription, order: @escaping @Sendable (VideoOrder) -> Void,
    now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now }, fileName: @escaping @Sendable () -> String
  ) {
    described = Mutex(description)
    (self.order, self.now, self.fileName) = (order, now, fileName)
  }

  private var description: VideoDescription { described.withLock { $0 } }

  /// What is configured from now on. Any thread.
  func take(_ description: VideoDescription) {
    described.withLock { $0 = description }
    changes.add(1, ordering: .releasing)
  }

  // MARK: what the video process tells

  /// In the order in which it comes; one thread.
  public func take(_ report: VideoReport) {
    switch report {
    case .hello: break
    case .choice(let choice): change { $0.choice = choice }
    case .camera(let camera): change { $0.camera = camera }
    case .door(let state): change { $0.door = state }
    case .statistics(let statistics): change { $0.statistics = statistics }
    case .recording(let recording): change { $0.recording = recording }
    case .detection(let detection):
      change { state in
        state.detection = (detection, now())
        state.hasNewObjects = detection.phase == .running
      }
    case .initialisation(let codec, let bytes):
      let (viewers, isNew) = door.withLock { state in
        defer { state.initialisation = (codec, bytes) }
        return (Array(state.viewers.values), state.initialisation.map { $0.bytes != bytes } ?? true)
      }
      for viewer in viewers where viewer.kind == .fragments { viewer.begin(bytes, isNew: isNew) }
    case .fragment(let isKey, let bytes):
      for viewer in viewers(.fragments) { viewer.add(bytes, isKey: isKey, at: now()) }
    case .picture(let bytes):
      for viewer in viewers(.pictures) { viewer.show(bytes, at: now()) }
    case .cameras(let cameras):
      let askers = door.withLock { state in
        defer { state.cameraAskers = [] }
        return state.cameraAskers
      }
      for asker in askers { asker.1.resume(returning: cameras) }
    }
  }

  /// The video process has started or ended. One that has started has to be told what is wanted.
  public func take(_ process: VideoProcessReport) {
    let isNew = change { state in
      defer { state.process = process }
      guard process.process != state.process.process else { return false }
      state.camera = VideoCameraState(.idle)
      state.door = VideoDoorState(port: 0)
      state.statistics = VideoStatistics()
      state.detection = nil
      state.hasNewObjects = false
      if let recording = state.recording, [.starting, .running].contains(recording.phase) {
        state.recording = VideoRecording(
          .failed, path: recording.path, bytes: recording.bytes, cause: "the video process ended")
      }
      return process.process != nil
    }
    if isNew { want() }
  }

  @discardableResult
  private func change<Result>(_ body: (inout State) -> Result) -> Result {
    defer { changes.add(1, ordering: .releasing) }
    return door.withLock { state in
      let result = body(&state)
      let words = VideoWords(state)
      if words != state.told {
        // The daemon looks ten times a second; a camera that changes more often than that is not worth more lines.
        if state.told != nil, state.edges.count < 64 {
          state.edges.append(Event(.edge, type: "video", system: name, at: now(), json: words))
        }
        state.told = words
      }
      return result
    }
  }

  // MARK: viewers

  private func viewers(_ kind: VideoViewer.Kind) -> [VideoViewer] {
    door.withLock { $0.viewers.values.filter { $0.kind == kind } }
  }

  private func want() {
    let (fragments, pictures) = door.withLock { ($0.count(.fragments) > 0, $0.count(.pictures) > 0) }
    order(.want(fragments: fragments, pictures: pictures))
  }

  /// Somebody looks: until `leave`.
  public func join(_ kind: VideoViewer.Kind) throws(APIError) -> VideoViewer {
    guard snapshot.process.process != nil else {
      throw APIError(.serviceUnavailable, "VIDEO_DOWN", "the video process does not run; GET /api/video says why")
    }
    let limit = description.viewerLimit
    let viewer: VideoViewer? = change { state in
      guard state.viewers.count < limit else { return nil }
      state.lastNumber += 1
      let viewer = VideoViewer(number: state.lastNumber, kind, at: now())
      state.viewers[viewer.number] = viewer
      return viewer
    }
    guard let viewer else {
      throw APIError(
        .serviceUnavailable, "VIEWERS",
        "\(limit) streams are watched, as many as video.viewers allows")
    }
    want()
    return viewer
  }

  /// The viewer looks no more.
  public func leave(_ viewer: VideoViewer) {
    viewer.finish()
    let isGone = change { state in
      guard state.viewers.removeValue(forKey: viewer.number) != nil else { return false }
      state.dropped += viewer.dropped
      return true
    }
    if isGone { want() }
  }

  /// Leaves when the last reference to it is gone: when the answer it belongs to has ended, however that was.
  private final class Seat: Sendable {
    let viewer: VideoViewer
    private let door: VideoDoor

    init(_ door: VideoDoor, _ kind: VideoViewer.Kind) throws(APIError) {
      self.door = door
      viewer = try door.join(kind)
    }

    deinit { door.leave(viewer) }
  }

  /// The first piece of a stream, or why there is none.
  private func first(_ seat: Seat) async throws -> [UInt8] {
    if let piece = await seat.viewer.next() { return piece }
    let words = VideoWords(snapshot)
    throw APIError(
      .serviceUnavailable, "NO_PICTURE",
      "there is no picture: \(words.reason)"
        + (words.wayOut.map { "; \($0)" } ?? ""))
  }

  // MARK: state and events

  public var version: UInt64 { changes.load(ordering: .acquiring) }
  public var state: [UInt8] { encodeJSON(VideoDocument(snapshot, description, at: now())) }
  var snapshot: State { door.withLock { $0 } }

  /// What people are told: the state's word, how many streams are watched, and the newest recording, or `nil` if there has been none.
  public var told: (state: String, viewers: Int, recording: VideoRecording?) {
    let state = snapshot
    return (VideoWords(state).state, state.viewers.count, state.recording)
  }

  /// Nothing comes for so long: a reader that has gone would not be noticed otherwise, and one that is there should know.
  private static let silence = Nanoseconds.seconds(10)
  private static let cameraPatience = Nanoseconds.seconds(8)

  public func events(at now: TickInstant, second: Bool) -> [Event] {
    var (edges, viewers, askers, detection) = door.withLock { state in
      defer { (state.edges, state.hasNewObjects) = ([], false) }
      let overdue = state.cameraAskers.filter { now - $0.at >= Self.cameraPatience }
      state.cameraAskers.removeAll { now - $0.at >= Self.cameraPatience }
      return (
        state.edges, Array(state.viewers.values), overdue, state.hasNewObjects ? state.detection?.detection : nil
      )
    }
    for asker in askers { asker.1.resume(returning: nil) }
    for viewer in viewers where viewer.isForgotten(at: now, after: Self.silence) { viewer.finish() }
    if let detection {
      edges.append(Event(.telemetry, type: "detections", system: name, at: now, json: DetectionsDocument(detection)))
    }
    if second {
      edges.append(
        Event(.state, type: "video", system: name, at: now, json: VideoDocument(snapshot, description, at: now)))
    }
    return edges
  }

  /// A camera moves nothing.
  public func emergencyStop(_ caller: Caller) async throws {}
  public func holdEmergencyStop() {}
  public var isEmergencyStopped: Bool { false }
  public func reset(_ caller: Caller) async throws {}
  public func take(
    frame: [UInt8], from caller: Caller, answer: @escaping @Sendable (FrameOutcome) -> Void
  ) -> Bool { false }
  public func clientLeft(_ caller: Caller) {}

  // MARK: routes

  public var routes: [Route] {
    [
      Route(.get, "/api/video") { [self] _ in
        .json(VideoDocument(snapshot, description, at: now(), ok: true))
      },
      Route(.get, "/api/video/cameras") { [self] _ in try await cameras() },
      Route(.get, "/api/video/snapshot.jpg") { [self] _ in
        let seat = try Seat(self, .pictures)
        return APIResponse(contentType: "image/jpeg", body: try await first(seat))
      },
      Route(.get, "/api/video/stream.mjpeg") { [self] _ in try await moving() },
      Route(.get, "/api/video/stream.mp4") { [self] _ in try await film() },
      Route(.post, "/api/video/record", scope: .control, action: "video.record") { [self] request in
        try record(request.decodeIfGiven(RecordBody.self)?.bytes)
      },
      Route(.post, "/api/video/record/stop", scope: .control, action: "video.record-stop") { [self] _ in
        order(.stopRecording)
        return .json(VideoDocument(snapshot, description, at: now(), ok: true))
      },
    ]
  }

  private func cameras() async throws -> APIResponse {
    struct Camera: Encodable {
      let name, kind, device, location: String
      let modes: [String]
    }
    struct Cameras: Encodable {
      let ok = true
      let cameras: [Camera]
    }
    let found = await withCheckedContinuation { asker in
      let isThere = door.withLock { state in
        guard state.process.process != nil else { return false }
        state.cameraAskers.append((now(), asker))
        return true
      }
      if isThere { order(.listCameras) } else { asker.resume(returning: nil) }
    }
    guard let found else {
      throw APIError(.serviceUnavailable, "VIDEO_DOWN", "the video process does not answer; GET /api/video says why")
    }
    return .json(
      Cameras(
        cameras: found.map {
          Camera(name: $0.name, kind: $0.kind, device: $0.device, location: $0.location, modes: $0.modes)
        }))
  }

  /// JPEG pictures, each in place of the one before: what an `<img>` shows.
  private func moving() async throws -> APIResponse {
    let seat = try Seat(self, .pictures)
    let parts = VideoParts(first: try await first(seat)) { await seat.viewer.next() }
    var response = APIResponse(contentType: "multipart/x-mixed-replace; boundary=picture", body: [])
    response.pieces = {
      guard let picture = await parts.next() else { return nil }
      return Array("--picture\r\nContent-Type: image/jpeg\r\nContent-Length: \(picture.count)\r\n\r\n".utf8) + picture
        + Array("\r\n".utf8)
    }
    return response
  }

  /// Fragmented MP4, a frame each, for Media Source Extensions and players.
  private func film() async throws -> APIResponse {
    let seat = try Seat(self, .fragments)
    let parts = VideoParts(first: try await first(seat)) { await seat.viewer.next() }
    let codec = snapshot.initialisation?.codec ?? "avc1.42C01F"
    var response = APIResponse(contentType: "video/mp4; codecs=\"\(codec)\"", body: [])
    response.pieces = { await parts.next() }
    return response
  }

  /// Begins a recording of at most so many bytes.
  public func record(_ bytes: UInt64?) throws(APIError) -> APIResponse {
    let description = description
    guard let folder = description.recordFolder else {
      throw .conflict("NO_FOLDER", "recordings have no place: set video.record_dir")
    }
    let limit = min(bytes ?? description.recordLimitBytes, description.recordLimitBytes)
    let path = folder + "/" + fileName()
    let failure: APIError? = change { state in
      guard state.process.process != nil else {
        return APIError(.serviceUnavailable, "VIDEO_DOWN", "the video process does not run; GET /api/video says why")
      }
      if let recording = state.recording, [.starting, .running].contains(recording.phase) {
        return .conflict("RECORDING", "\(recording.path) is being recorded")
      }
      state.recording = VideoRecording(.starting, path: path)
      return nil
    }
    if let failure { throw failure }
    order(.record(path: path, limitBytes: limit))
    var response = APIResponse.json(VideoDocument(snapshot, description, at: now(), ok: true))
    response.logValue = path
    return response
  }
}

/// The pieces of an answer: the one that was waited for before its head, then those that follow.
private final class VideoParts: Sendable {
  private let first: Mutex<[UInt8]?>
  private let rest: @Sendable () async -> [UInt8]?

  init(first: [UInt8], rest: @escaping @Sendable () async -> [UInt8]?) {
    self.first = Mutex(first)
    self.rest = rest
  }

  func next() async -> [UInt8]? {
    let piece = first.withLock { first in
      defer { first = nil }
      return first
    }
    if let piece { return piece }
    return await rest()
  }
}

/// The body of `POST /api/video/record`: at most so many megabytes, within what the configuration allows.
private struct RecordBody: JSONReadable {
  let bytes: UInt64?

  init(_ body: inout JSONReader) throws(APIError) {
    bytes = try body.optional("megabytes", .integer(1...1_000_000)).map { UInt64(clamping: $0) * 1_000_000 }
  }
}
