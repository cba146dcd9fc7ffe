/// A decoder for the output of a YOLOv8 detector: one tensor [1, 4 + classes, candidates], channels first.
///
/// Channels 0…3 are centre x, centre y, width and height in pixels of the input; each of the others is the confidence of a class. There
/// is no objectness, and the sigmoid has already been applied to the confidences. Source: Ultralytics, the export of `yolov8n` to ONNX.
public struct YOLOv8Output: Sendable {
  public enum Failure: Error, Sendable, Hashable {
    /// The size of the tensor does not fit its shape and the labels.
    case shape(expected: Int, got: Int)
  }

  public let labels: [String]
  /// The lowest confidence of an object that counts.
  public var confidence: Float = 0.25
  /// The highest overlap of two objects of one class. Of two boxes that overlap more, the less certain one is dropped as a duplicate.
  public var overlap: Float = 0.45
  /// The highest number of objects, which bounds the work for a picture with many false detections; the most certain are kept.
  public var limit = 100

  public init(labels: [String]) {
    precondition(!labels.isEmpty, "a detector knows something")
    self.labels = labels
  }

  /// Returns the objects found, in order of decreasing confidence.
  ///
  /// - Parameters:
  ///   - tensor: `(4 + labels.count) × candidates` values; candidates with values that are not finite are ignored.
  ///   - candidates: the number of candidates, 8,400 for an input of 640 pixels.
  public func decode(_ tensor: [Float], candidates: Int, in letterbox: Letterbox) throws(Failure) -> [DetectedObject] {
    let expected = (4 + labels.count) * candidates
    guard tensor.count == expected else { throw .shape(expected: expected, got: tensor.count) }
    var found: [Candidate] = []
    for index in 0..<candidates {
      var best = (label: 0, confidence: -Float.infinity)
      for label in labels.indices {
        let value = tensor[(4 + label) * candidates + index]
        if value > best.confidence { best = (label, value) }
      }
      guard best.confidence >= confidence, best.confidence.isFinite else { continue }
      let box = letterbox.box(
        centreX: tensor[index], centreY: tensor[candidates + index], width: tensor[2 * candidates + index],
        height: tensor[3 * candidates + index])
      if let box {
        found.append(Candidate(label: best.label, confidence: min(1, best.confidence), box: box, index: index))
      }
    }
    return suppress(found)
  }

  private struct Candidate {
    let label: Int
    let confidence: Float
    let box: DetectedBox
    /// The index of the candidate, which orders candidates of equal confidence, so that the result for a picture is always the same.
    let index: Int
  }

  /// Returns the candidates without duplicates. Only the most certain of overlapping boxes of one class is kept.
  private func suppress(_ candidates: [Candidate]) -> [DetectedObject] {
    var kept: [Candidate] = []
    for candidate in candidates.sorted(by: { ($0.confidence, $1.index) > ($1.confidence, $0.index) }) {
      guard kept.count < limit else { break }
      let isSame = kept.contains { $0.label == candidate.label && $0.box.overlap(candidate.box) > overlap }
      if !isSame { kept.append(candidate) }
    }
    return kept.map { DetectedObject(label: labels[$0.label], confidence: $0.confidence, box: $0.box) }
  }
}
