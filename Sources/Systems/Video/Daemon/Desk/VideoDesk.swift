import HTTPTypes
import Service
import Synchronization
import Tactus
import TactusDaemon
import Video
import Wire

/// The daemon's side of the video system: its streams, its events and its state for documents.
///
/// Reports of the video process come in by `receive`, on the thread that supervises the process; orders to the process go out by `order`.
/// Only requests that need an answer of the process wait for it.
public final class VideoDesk: LoneDesk {
  public typealias Renew = @Sendable (_ rules: Video.Rules, _ done: @escaping @Sendable () -> Void) -> VideoDescription

  private let name = Video.name
  let current = Mutex(VideoSnapshot())
  private let described: Mutex<VideoDescription>
  let order: @Sendable (VideoOrder) -> Void
  private let publish: @Sendable (Video.State) -> Void
  private let renew: Renew?
  let now: @Sendable () -> TickInstant
  private let fileName: @Sendable () -> String

  /// Creates a desk without viewers.
  ///
  /// - Parameters:
  ///   - order: sends an order to the video process, and drops it if no process runs. Called on any thread.
  ///   - publish: called when the state may have changed, on any thread.
  ///   - renew: gives other rules to the process and returns the description of the new configuration; `nil` if rules never change.
  ///   - fileName: returns a unique file name for a new recording, without its folder.
  public init(
    _ description: VideoDescription, order: @escaping @Sendable (VideoOrder) -> Void,
    publish: @escaping @Sendable (Video.State) -> Void = { _ in }, renew: Renew? = nil,
    now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now }, fileName: @escaping @Sendable () -> String
  ) {
    described = Mutex(description)
    (self.order, self.publish, self.renew) = (order, publish, renew)
    (self.now, self.fileName) = (now, fileName)
  }

  var description: VideoDescription { described.withLock { $0 } }

  public func apply(_ rules: Video.Rules, done: @escaping @Sendable () -> Void) {
    guard let renew else { return done() }
    let description = renew(rules, done)
    described.withLock { $0 = description }
    change { _ in }
  }

  public func told(_ notice: Told<NoNotice>) {}
  public func beat(_ newest: Published<Video.State>) {}
  public func finish(_ last: Published<Video.State>) {}

  // MARK: what the video process tells

  /// Handles a report. The function is to be called in the order of the reports, by one thread.
  public func receive(_ report: VideoReport) {
    switch report {
    case .hello: break
    case .choice(let choice): change { $0.choice = choice }
    case .camera(let camera): change { $0.camera = camera }
    case .rtsp(let state): change { $0.rtsp = state }
    case .statistics(let statistics):
      change { $0.statistics = statistics }
      if let wait = viewers(.fragments).compactMap({ $0.wait(at: now()) }).max() {
        order(.waits(milliseconds: UInt32(clamping: wait.count / 1_000_000)))
      }
    case .recording(let recording): change { $0.recording = recording }
    case .detection(let detection):
      change { state in
        state.detection = (detection, now())
        state.hasNewObjects = detection.phase == .running
      }
    case .initialisation(let codec, let bytes):
      let (viewers, isNew) = current.withLock { state in
        defer { state.initialisation = (codec, bytes) }
        return (Array(state.viewers.values), state.initialisation.map { $0.bytes != bytes } ?? true)
      }
      for viewer in viewers where viewer.kind == .fragments { viewer.begin(bytes, isNew: isNew) }
    case .fragment(let isKey, let bytes):
      for viewer in viewers(.fragments) { viewer.add(bytes, isKey: isKey, at: now()) }
    case .picture(let bytes):
      for viewer in viewers(.pictures) { viewer.show(bytes, at: now()) }
    case .cameras(let cameras):
      let askers = current.withLock { state in
        defer { state.cameraAskers = [] }
        return state.cameraAskers
      }
      for asker in askers { asker.1.resume(returning: cameras) }
    case .answer(let session, let text): answered(session, text)
    case .ended(let session, let end): ended(session, end)
    }
  }

  /// Handles the report that the video process has started or ended. A new process is informed which kinds of frames
  /// viewers need.
  public func receive(_ process: ChildReport) {
    let isNew = change { state in
      defer { state.process = process }
      guard process.process != state.process.process else { return false }
      state.camera = VideoCameraState(.idle)
      state.rtsp = VideoRTSPState(port: 0)
      state.statistics = VideoStatistics()
      state.detection = nil
      state.hasNewObjects = false
      if let recording = state.recording, [.starting, .running].contains(recording.phase) {
        state.recording = VideoRecording(
          .failed, path: recording.path, bytes: recording.bytes, cause: "the video process ended")
      }
      return process.process != nil
    }
    if process.process == nil || isNew { endSessions() }
    if isNew { want() }
  }

  @discardableResult
  func change<Result>(_ body: (inout VideoSnapshot) -> Result) -> Result {
    current.withLock { state in
      let result = body(&state)
      let words = VideoWords(state)
      if words != state.told {
        // The daemon looks ten times a second; a camera that changes more often than that is not worth more lines.
        if state.told != nil, state.edges.count < 64 {
          state.edges.append(Event(.edge, type: "video", system: name, at: now(), json: words))
        }
        state.told = words
      }
      publish(Video.State(word: words.state))
      return result
    }
  }

  // MARK: viewers

  private func viewers(_ kind: VideoViewer.Kind) -> [VideoViewer] {
    current.withLock { $0.viewers.values.filter { $0.kind == kind } }
  }

  private func want() {
    let (fragments, pictures) = current.withLock { ($0.count(.fragments) > 0, $0.count(.pictures) > 0) }
    order(.want(fragments: fragments, pictures: pictures))
  }

  /// Adds a viewer, who must be removed by `leave`.
  public func join(_ kind: VideoViewer.Kind) throws(APIError) -> VideoViewer {
    guard snapshot.process.process != nil else {
      throw Self.down
    }
    let limit = description.viewerLimit
    let viewer: VideoViewer? = change { state in
      guard state.watching < limit else { return nil }
      state.lastNumber += 1
      let viewer = VideoViewer(number: state.lastNumber, kind, at: now())
      state.viewers[viewer.number] = viewer
      return viewer
    }
    guard let viewer else { throw Self.full(limit) }
    want()
    return viewer
  }

  static var down: APIError {
    APIError(.serviceUnavailable, "VIDEO_DOWN", "the video process does not run; GET /api/video says why")
  }

  static func full(_ limit: Int) -> APIError {
    APIError(.serviceUnavailable, "VIEWERS", "\(limit) streams are watched, as many as video.viewers allows")
  }

  /// Removes a viewer.
  public func leave(_ viewer: VideoViewer) {
    viewer.finish()
    let isGone = change { state in
      guard state.viewers.removeValue(forKey: viewer.number) != nil else { return false }
      state.dropped += viewer.dropped
      return true
    }
    if isGone { want() }
  }

  /// A viewer that is removed when the last reference to this object is released, that is, when the response has ended in any way.
  private final class Seat: Sendable {
    let viewer: VideoViewer
    private let desk: VideoDesk

    init(_ desk: VideoDesk, _ kind: VideoViewer.Kind) throws(APIError) {
      self.desk = desk
      viewer = try desk.join(kind)
    }

    deinit { desk.leave(viewer) }
  }

  /// Returns one picture, as a JPEG. Without viewers, the camera is started for it.
  func picture() async throws -> [UInt8] { try await first(try Seat(self, .pictures)) }

  /// Returns the first piece of a stream, or throws the reason if the stream cannot begin.
  private func first(_ seat: Seat) async throws -> [UInt8] {
    if let piece = await seat.viewer.next() { return piece }
    let words = VideoWords(snapshot)
    throw APIError(
      .serviceUnavailable, "NO_PICTURE",
      "there is no picture: \(words.reason)"
        + (words.wayOut.map { "; \($0)" } ?? ""))
  }

  // MARK: state and events

  var snapshot: VideoSnapshot { current.withLock { $0 } }
  /// Returns the state for documents and metrics.
  func seen(at now: TickInstant) -> VideoSeen { VideoSeen(snapshot, description, at: now) }

  /// The published state: its word, the number of streams that are watched, and the newest recording, or `nil` if there has been none.
  public var told: (state: String, viewers: Int, recording: VideoRecording?) {
    let state = snapshot
    return (VideoWords(state).state.rawValue, state.watching, state.recording)
  }

  /// The time without data after which a stream is ended. A disconnected reader would otherwise not be noticed, and a connected one
  /// learns that the stream has stopped.
  private static let silence = Nanoseconds.seconds(10)
  private static let cameraPatience = Nanoseconds.seconds(8)

  public func events(at now: TickInstant) -> [Event] {
    var (edges, viewers, askers, detection) = current.withLock { state in
      defer { (state.edges, state.hasNewObjects) = ([], false) }
      let overdue = state.cameraAskers.filter { now - $0.at >= Self.cameraPatience }
      state.cameraAskers.removeAll { now - $0.at >= Self.cameraPatience }
      return (
        state.edges, Array(state.viewers.values), overdue, state.hasNewObjects ? state.detection?.detection : nil
      )
    }
    for asker in askers { asker.1.resume(returning: nil) }
    giveUpSessions(at: now)
    for viewer in viewers where viewer.isForgotten(at: now, after: Self.silence) { viewer.finish() }
    if let detection {
      edges.append(Event(.telemetry, type: "detections", system: name, at: now, json: DetectionsDocument(detection)))
    }
    return edges
  }

  // MARK: routes

  var routes: [Route] {
    [
      Route(.get, "/api/video/cameras") { [self] _ in try await cameras() },
      Route(.get, "/api/video/snapshot.jpg") { [self] _ in
        APIResponse(contentType: "image/jpeg", body: try await picture())
      },
      Route(.get, "/api/video/stream.mjpeg") { [self] _ in try await moving() },
      Route(.get, "/api/video/stream.mp4") { [self] _ in try await film() },
      Route(.post, "/api/video/record", scope: .control, action: "video.record") { [self] request in
        try record(request.decodeIfGiven(RecordBody.self)?.bytes)
      },
      Route(.post, "/api/video/record/stop", scope: .control, action: "video.record-stop") { [self] _ in
        order(.stopRecording)
        return document
      },
    ] + webRTCRoutes
  }

  /// The document of `GET /api/video`, as a response.
  private var document: APIResponse {
    let ok = JSONValue.Member(name: "ok", value: .boolean(true))
    let body = StateDocument(of: name, Video.seenFields).json(seen(at: now()), after: [ok])
    return APIResponse(contentType: "application/json", body: body)
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
      let isThere = current.withLock { state in
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

  /// Returns a stream of JPEG pictures, each of which replaces the previous one, as an `<img>` element shows it.
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

  /// Returns a stream of fragmented MP4, one frame in each fragment, for Media Source Extensions and players.
  private func film() async throws -> APIResponse {
    let seat = try Seat(self, .fragments)
    let parts = VideoParts(first: try await first(seat)) { await seat.viewer.next() }
    let codec = snapshot.initialisation?.codec ?? "avc1.42C01F"
    var response = APIResponse(contentType: "video/mp4; codecs=\"\(codec)\"", body: [])
    response.pieces = { await parts.next() }
    return response
  }

  /// Begins a recording of at most this number of bytes, or of the configured limit if the number is `nil` or greater.
  public func record(_ bytes: UInt64?) throws(APIError) -> APIResponse {
    let description = description
    guard let folder = description.recordFolder else {
      throw .conflict("NO_FOLDER", "recordings have no place: set video.record_dir")
    }
    let limit = min(bytes ?? description.recordLimitBytes, description.recordLimitBytes)
    let path = folder + "/" + fileName()
    let failure: APIError? = change { state in
      guard state.process.process != nil else {
        return Self.down
      }
      if let recording = state.recording, [.starting, .running].contains(recording.phase) {
        return .conflict("RECORDING", "\(recording.path) is being recorded")
      }
      state.recording = VideoRecording(.starting, path: path)
      return nil
    }
    if let failure { throw failure }
    order(.record(path: path, limitBytes: limit))
    var response = document
    response.logValue = path
    return response
  }
}

/// The pieces of a response: the first one, which was obtained before the head was sent, then the others.
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

/// The body of `POST /api/video/record`: the size limit in megabytes, at most the configured one.
private struct RecordBody: JSONReadable {
  let bytes: UInt64?

  init(_ body: inout JSONReader) throws(APIError) {
    bytes = try body.optional("megabytes", .integer(1...1_000_000)).map { UInt64(clamping: $0) * 1_000_000 }
  }
}
