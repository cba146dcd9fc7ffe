import Service
import Tactus
import TactusDaemon
import Video

/// The state of the detector.
public enum VideoDetectionWord: String, Word {
  case off, idle, starting, running, failed
}

/// The detector's state and results, as shown in documents.
struct VideoDetectionSeen: Sendable {
  let state: VideoDetectionWord
  let reason: String
  let pictures, failures: UInt64
  let detectMilliseconds: Double?
  /// The duration of the last detection in seconds, however long ago, or `nil` if the detector has not answered yet.
  let detectSeconds: Double?
  let objects: [VideoObjectSeen]

  /// The age from which a result is no longer shown.
  static let memory = Nanoseconds.seconds(2)

  init(_ state: VideoSnapshot, _ description: VideoDescription, at now: TickInstant) {
    let last = state.detection
    pictures = last?.detection.pictures ?? 0
    failures = last?.detection.failures ?? 0
    let isFresh = last.map { now - $0.at < Self.memory } ?? false
    switch last?.detection.phase {
    case .failed?: (self.state, reason) = (.failed, last!.detection.cause)
    case .starting? where isFresh: (self.state, reason) = (.starting, "the detector has not answered yet")
    case .running? where isFresh: (self.state, reason) = (.running, "there are pictures")
    default:
      (self.state, reason) =
        description.detects
        ? (.idle, "there are no pictures for it")
        : (.off, "there is no detector: set video.detector.model to a model file of yours")
    }
    let duration = last?.detection.duration ?? 0
    detectSeconds = duration > 0 ? Double(duration) / 1e9 : nil
    let isRunning = isFresh && last?.detection.phase == .running
    detectMilliseconds = isRunning ? last!.detection.milliseconds : nil
    objects = isRunning ? last!.detection.objects.map(VideoObjectSeen.init) : []
  }
}

/// An object found by the detector, as shown in documents.
struct VideoObjectSeen: Sendable, Encodable {
  let label: String
  let confidence: Double
  /// The box, as fractions of the picture's width and height from its upper left corner.
  let left, top, width, height: Double

  init(_ object: DetectedObject) {
    // Four digits are a tenth of a pixel of a large picture.
    func rounded(_ value: Float) -> Double { (Double(value) * 10_000).rounded() / 10_000 }
    label = object.label
    confidence = rounded(object.confidence)
    left = rounded(object.box.left)
    top = rounded(object.box.top)
    width = rounded(object.box.width)
    height = rounded(object.box.height)
  }
}

/// The document of a WebSocket event with an answer of the detector, sent to subscribers of telemetry.
struct DetectionsDocument: Encodable {
  let objects: [VideoObjectSeen]
  let detectMs: Double

  init(_ detection: VideoDetection) {
    objects = detection.objects.map(VideoObjectSeen.init)
    detectMs = detection.milliseconds
  }
}

extension VideoDetection {
  fileprivate var milliseconds: Double { Double(duration / 1000) / 1000 }
}
