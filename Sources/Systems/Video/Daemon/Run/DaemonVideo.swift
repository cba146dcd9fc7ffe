import Buses
import Glibc
import Logging
import Service
import Tactus
import TactusDaemon
import Video

/// The video in the daemon: its process, its door. It has no control loop, and none depends on it.
final class DaemonVideo: DaemonSystem {
  let name = "video"
  private let door: VideoDoor
  private let child: VideoChild
  private let simulate: Bool
  /// What the process was told last.
  private let settings: Guarded<VideoSettings>
  /// What the file said last.
  private let newest: Guarded<Configuration.Video>

  /// Nothing is started yet.
  ///
  /// - Throws: a file of a password or of labels that cannot be read.
  init(_ video: Configuration.Video, simulate: Bool, portOwners: PortOwners, logger: Logger) throws {
    var settings = video.settings
    if simulate { settings.source = .test }
    if let file = video.viewing.passwordFile {
      settings.password = try String(Self.text(of: file, "video.password_file").prefix { !$0.isNewline })
    }
    if let file = video.detector.labelsFile {
      settings.detector.labels = try Self.text(of: file, "video.detector.labels_file").split(
        whereSeparator: \.isNewline
      )
      .map(String.init)
    }
    if let model = video.detector.model {
      if settings.detector.command.isEmpty { settings.detector.command = [DaemonProgram.beside("tactus-detect")] }
      settings.detector.command.append(model)
    }
    (self.settings, newest, self.simulate) = (Guarded(settings), Guarded(video), simulate)
    // The door's orders go to a child that is made with the door.
    let orders = OrderBox()
    let door = VideoDoor(
      VideoDescription(settings, recordFolder: video.recordFolder, recordLimitBytes: video.recordLimitBytes),
      order: { orders.give($0) },
      fileName: { "video-" + WallClock.text.prefix(19).replacing(":", with: "").replacing("T", with: "-") + ".mp4" })
    self.door = door
    let log = VideoLog(logger)
    child = try VideoChild(
      program: VideoChild.standardProgram, settings: settings, logger: logger,
      take: { [port = video.port] report in
        let report = report.naming(portOwners, ofPort: port)
        log.note(report)
        door.take(report)
      }, changed: { door.take($0) })
    orders.child = child
  }

  var endpoints: [Endpoint] { [] }
  var startMetadata: Logger.Metadata { [:] }
  var served: any ServedSystem { door }
  var metrics: any MetricSource { VideoMetrics(door) }
  var brokerParticipants: [any BrokerParticipant] { [] }
  func started() { child.start() }
  func takeAnswers(at now: TickInstant) {}
  func takeNotices(_ logger: Logger) -> [Event] { [] }
  func beat(at now: TickInstant) {}
  func report(_ logger: Logger) {}
  func finish(_ logger: Logger) { child.stop() }
  func finishKeeping() -> KeptOutcome { .known }

  /// Who looks at the stream joins anew; what is not the process's alone (the longest recording) is taken without that.
  func change(to new: Configuration) -> (any RulesChange)? {
    guard let new = new.systems[Configuration.Video.self] else { return nil }
    let keys = KeyChange.between(newest.value.reloadable, new.reloadable)
    guard !keys.isEmpty else { return nil }
    return DeskChange(of: name, keys) { [newest, settings, simulate, door, child] done in
      let old = settings.value
      var wanted = new.settings
      wanted.takeFixed(of: old)
      if simulate { wanted.source = .test }
      (newest.value, settings.value) = (new, wanted)
      door.take(VideoDescription(wanted, recordFolder: new.recordFolder, recordLimitBytes: new.recordLimitBytes))
      if wanted == old { done() } else { child.replace(wanted, told: done) }
    }
  }

  private static func text(of path: String, _ key: String) throws -> String {
    guard let text = YAMLFile.contents(of: path) else {
      throw ServiceError(call: "\(key) \(path)", errno: errno == 0 ? ENOENT : errno)
    }
    return text
  }
}

extension VideoReport {
  /// The same; of a port that is taken it says by whom, if that is known.
  fileprivate func naming(_ owners: PortOwners, ofPort port: UInt16) -> VideoReport {
    guard case .door(var door) = self, door.port == 0, door.cause.contains("port is taken"),
      let words = owners.words(Configuration.Video.name(of: \.port), .tcp(port))
    else { return self }
    door.cause = words
    return .door(door)
  }
}

extension VideoSettings {
  /// What no reload changes: the port, who may look, and what files said at the start.
  fileprivate mutating func takeFixed(of old: VideoSettings) {
    (port, bindAddress, user, password) = (old.port, old.bindAddress, old.user, old.password)
    (detector.command, detector.labels, detector.side) = (old.detector.command, old.detector.labels, old.detector.side)
  }
}

/// Set once, before anything is started.
private final class OrderBox: @unchecked Sendable {
  weak var child: VideoChild?
  func give(_ order: VideoOrder) { child?.order(order) }
}

/// What of the video process's reports is worth a line.
// Safe: one thread.
private final class VideoLog: @unchecked Sendable {
  private let logger: Logger
  private var failure: String?
  private var detection: (phase: VideoDetection.Phase, cause: String)?

  init(_ logger: Logger) { self.logger = logger }

  func note(_ report: VideoReport) {
    func line(_ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata) {
      logger.log(level: level, message, metadata: metadata.merging(["system": "video"]) { first, _ in first })
    }
    switch report {
    case .choice(let choice):
      line(
        .info, "camera and encoder",
        [
          "source": .string(choice.source), "why": .string(choice.sourceReason), "encoder": .string(choice.encoder),
          "why_encoder": .string(choice.encoderReason),
        ])
    case .camera(let camera):
      switch camera.phase {
      case .failed:
        // The same again and again is worth one line.
        if camera.cause != failure {
          line(.warning, "no picture; tried again while somebody looks", ["reason": .string(camera.cause)])
        }
        failure = camera.cause
      case .running:
        line(failure == nil ? .info : .notice, failure == nil ? "the camera runs" : "the camera runs again", [:])
        failure = nil
      case .idle: line(.info, "the camera rests: nobody looks", [:])
      case .starting: break
      }
    case .door(let door):
      if door.port > 0 {
        line(.info, "serving RTSP", ["port": .stringConvertible(Int(door.port)), "path": "/stream"])
      } else {
        line(.error, "no RTSP; tried again", ["reason": .string(door.cause)])
      }
    case .detection(let detection) where detection.phase != .starting:
      guard self.detection.map({ $0 != (detection.phase, detection.cause) }) ?? true else { return }
      self.detection = (detection.phase, detection.cause)
      if detection.phase == .failed {
        line(.warning, "no detector; started again while there are pictures", ["reason": .string(detection.cause)])
      } else {
        line(.info, "the detector answers", ["ms": .stringConvertible(Int(clamping: detection.duration / 1_000_000))])
      }
    case .recording(let recording) where recording.phase != .running:
      line(
        recording.phase == .failed ? .error : .info, "recording",
        [
          "state": .string("\(recording.phase)"), "file": .string(recording.path),
          "bytes": .stringConvertible(Int(clamping: recording.bytes)), "reason": .string(recording.cause),
        ])
    default: break
    }
  }
}
