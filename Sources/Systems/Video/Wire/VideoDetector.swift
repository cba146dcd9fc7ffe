/// A program that finds things in pictures, and what is made of its answers. `Sources/Systems/Video/README.md` says how it is spoken to.
public struct VideoDetector: Sendable, Hashable {
  /// Program and arguments; empty: nothing is detected.
  public var command: [String] = []
  /// Of its classes, in their order; empty: their numbers.
  public var labels: [String] = []
  /// Of the square that it is given, in pixels: a multiple of 32.
  public var side: UInt16 = 640
  /// Most of them.
  public var picturesPerSecond: UInt8 = 5
  /// 0…1: less is nothing.
  public var confidence: Float = 0.25
  /// 0…1: of two boxes of one class with more in common than this, the less certain is the same thing again.
  public var overlap: Float = 0.45
  /// It looks also while no viewer does.
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

/// What the detector has found in the last picture that it was given, or why nothing.
public struct VideoDetection: Sendable, Hashable {
  public enum Phase: UInt8, Sendable, Hashable, CaseIterable {
    /// It has not answered yet.
    case starting
    case running
    /// Started again by itself.
    case failed
  }

  public var phase: Phase
  /// Of `failed`.
  public var cause = ""
  /// Of the last picture, in nanoseconds: from handing it over to the boxes.
  public var duration: UInt64 = 0
  /// Pictures answered, and ends of the detector, since the video process started.
  public var pictures: UInt64 = 0
  public var failures: UInt64 = 0
  /// The most certain first.
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
