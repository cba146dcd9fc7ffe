/// The settings of a program that detects objects in pictures, and of the evaluation of its answers. `Sources/Systems/Video/README.md`
/// describes the protocol.
public struct VideoDetector: Sendable, Hashable {
  /// The program and its arguments; if empty, no detector runs.
  public var command: [String] = []
  /// The names of the detector's classes, in order; if empty, classes are named by their numbers.
  public var labels: [String] = []
  /// The side length of the square picture given to the detector, in pixels: a multiple of 32.
  public var side: UInt16 = 640
  /// The highest number of pictures a second given to the detector.
  public var picturesPerSecond: UInt8 = 5
  /// The lowest confidence of an object that counts, 0…1.
  public var confidence: Float = 0.25
  /// The highest overlap of two objects of one class, 0…1. Of two boxes that overlap more, the less certain one is dropped as a
  /// duplicate.
  public var overlap: Float = 0.45
  /// Whether the detector also runs while there is no viewer.
  public var isAlwaysOn = false

  public init() {}
}

extension VideoDetector {
  func write(into fields: inout VideoFieldWriter) {
    fields.add(command)
    fields.add(labels)
    fields.add(side)
    fields.add(picturesPerSecond)
    fields.add(confidence.bitPattern)
    fields.add(overlap.bitPattern)
    fields.add(isAlwaysOn)
  }

  init(_ fields: inout VideoFieldReader) throws(VideoMessageError) {
    command = try fields.texts("detector's command")
    labels = try fields.texts("labels")
    side = try fields.integer("detector's side")
    picturesPerSecond = try fields.integer("detector's rate")
    confidence = Float(bitPattern: try fields.integer("confidence"))
    overlap = Float(bitPattern: try fields.integer("overlap"))
    isAlwaysOn = try fields.boolean("always")
    guard (0...1).contains(confidence) else { throw .invalid("confidence") }
    guard (0...1).contains(overlap) else { throw .invalid("overlap") }
    guard side > 0, side % 32 == 0 else { throw .invalid("detector's side") }
    guard picturesPerSecond > 0 else { throw .invalid("detector's rate") }
  }
}

/// The detector's result for the last picture given to it, or the reason why the detector has not answered.
public struct VideoDetection: Sendable, Hashable {
  public enum Phase: UInt8, Sendable, Hashable, CaseIterable {
    /// The detector has not answered yet.
    case starting
    case running
    /// The detector has failed and is restarted automatically.
    case failed
  }

  public var phase: Phase
  /// The reason why the detector failed; empty in other phases.
  public var cause = ""
  /// The time that the last picture took, in nanoseconds, from its transfer to the detector until the objects were known.
  public var duration: UInt64 = 0
  /// The number of pictures answered since the video process started.
  public var pictures: UInt64 = 0
  /// The number of times that the detector has ended since the video process started.
  public var failures: UInt64 = 0
  /// The objects found, in order of decreasing confidence.
  public var objects: [DetectedObject] = []

  public init(_ phase: Phase) { self.phase = phase }

  func write(into fields: inout VideoFieldWriter) {
    fields.add(phase.rawValue)
    fields.add(cause)
    fields.add(duration)
    fields.add(pictures)
    fields.add(failures)
    fields.add(UInt16(clamping: min(objects.count, 1000)))
    for object in objects.prefix(1000) {
      fields.add(object.label)
      for value in [object.confidence, object.box.left, object.box.top, object.box.width, object.box.height] {
        fields.add(value.bitPattern)
      }
    }
  }

  init(_ fields: inout VideoFieldReader) throws(VideoMessageError) {
    phase = try fields.word("phase")
    cause = try fields.text("cause")
    duration = try fields.integer("duration")
    pictures = try fields.integer("pictures")
    failures = try fields.integer("failures")
    let count: UInt16 = try fields.integer("objects")
    for _ in 0..<count {
      let label = try fields.text("label")
      var values: [Float] = []
      for _ in 0..<5 {
        let value = Float(bitPattern: try fields.integer("box"))
        guard (0...1).contains(value) else { throw .invalid("box") }
        values.append(value)
      }
      objects.append(
        DetectedObject(
          label: label, confidence: values[0],
          box: DetectedBox(left: values[1], top: values[2], width: values[3], height: values[4])))
    }
  }
}
