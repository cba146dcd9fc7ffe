import Service
import Tactus
import Video

/// What the detector finds, of the video's document; its objects alone are an event of each answer.
struct VideoDetectionDocument: Encodable {
  struct Object: Encodable {
    let label: String
    let confidence: Double
    /// Fractions of the picture's width and height, from its upper left corner.
    let left, top, width, height: Double

    init(_ object: DetectedObject) {
      // Four digits: a tenth of a pixel of a large picture.
      func rounded(_ value: Float) -> Double { (Double(value) * 10_000).rounded() / 10_000 }
      label = object.label
      confidence = rounded(object.confidence)
      left = rounded(object.box.left)
      top = rounded(object.box.top)
      width = rounded(object.box.width)
      height = rounded(object.box.height)
    }
  }

  let state: String
  let reason: String
  let pictures, failures: UInt64
  @OrNull var detectMs: Double?
  let objects: [Object]

  /// Older than this is the past.
  static let memory = Nanoseconds.seconds(2)

  init(_ state: VideoDoor.State, _ description: VideoDescription, at now: TickInstant) {
    let last = state.detection
    pictures = last?.detection.pictures ?? 0
    failures = last?.detection.failures ?? 0
    let isFresh = last.map { now - $0.at < Self.memory } ?? false
    switch last?.detection.phase {
    case .failed?: (self.state, reason) = ("failed", last!.detection.cause)
    case .starting? where isFresh: (self.state, reason) = ("starting", "the detector has not answered yet")
    case .running? where isFresh: (self.state, reason) = ("running", "there are pictures")
    default:
      (self.state, reason) =
        description.detects
        ? ("idle", "there are no pictures for it")
        : ("off", "there is no detector: set video.detector.model to a model file of yours")
    }
    let isRunning = isFresh && last?.detection.phase == .running
    _detectMs = OrNull(wrappedValue: isRunning ? Double(last!.detection.duration / 1000) / 1000 : nil)
    objects = isRunning ? last!.detection.objects.map(Object.init) : []
  }
}

/// Of `/ws`: each answer of the detector, to who subscribed to telemetry.
struct DetectionsDocument: Encodable {
  let objects: [VideoDetectionDocument.Object]
  let detectMs: Double

  init(_ detection: VideoDetection) {
    objects = detection.objects.map(VideoDetectionDocument.Object.init)
    detectMs = Double(detection.duration / 1000) / 1000
  }
}
