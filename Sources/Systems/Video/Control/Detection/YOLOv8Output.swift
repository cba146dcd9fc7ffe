/// The output of a YOLOv8 detector, decoded: one tensor [1, 4 + classes, candidates], channels first.
///
/// Channels 0…3 are centre x, centre y, width and height in pixels of the input; the others one confidence a class. There is no
/// objectness, and confidences have been through a sigmoid already. Source: Ultralytics, the export of `yolov8n` to ONNX.
public struct YOLOv8Output: Sendable {
  public enum Failure: Error, Sendable, Hashable {
    /// The tensor has another size than its shape and the labels say.
    case shape(expected: Int, got: Int)
  }

  public let labels: [String]
  /// Less is nothing.
  public var confidence: Float = 0.25
  /// More of two boxes of one class in common than this: the less certain is the same thing again.
  public var overlap: Float = 0.45
  /// The most certain of them; a picture full of nonsense costs no more.
  public var limit = 100

  public init(labels: [String]) {
    precondition(!labels.isEmpty, "a detector knows something")
    self.labels = labels
  }

  /// The things seen, the most certain first.
  ///
  /// - Parameters:
  ///   - tensor: `(4 + labels.count) × candidates` values; what is not finite is nothing.
  ///   - candidates: 8,400 for an input of 640 pixels.
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
    /// Decides between equals, so that one picture always gives one answer.
    let index: Int
  }

  /// Of boxes of one class that lie upon each other only the most certain.
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
