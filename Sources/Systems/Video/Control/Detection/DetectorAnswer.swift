/// A detector's answer for one picture.
public enum DetectorAnswer: Sendable, Hashable {
  /// The objects found, already filtered by the detector.
  case boxes([DetectorBox])
  /// The raw output of a network, to be decoded by `YOLOv8Output`.
  case tensor([Float], channels: Int, candidates: Int)
  /// The detector cannot continue, for this reason.
  case failed(String)
}

/// A box in pixels of the square picture given to the detector.
public struct DetectorBox: Sendable, Hashable {
  public var label: String
  public var confidence: Float
  public var centreX: Float
  public var centreY: Float
  public var width: Float
  public var height: Float

  public init(label: String, confidence: Float, centreX: Float, centreY: Float, width: Float, height: Float) {
    (self.label, self.confidence) = (label, confidence)
    (self.centreX, self.centreY, self.width, self.height) = (centreX, centreY, width, height)
  }
}

/// A malfunction of a detector, described for people.
public struct DetectorFailure: Error, Sendable, Hashable, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}

extension DetectorAnswer {
  /// Returns the objects found, positioned in the original picture, in order of decreasing confidence, at most 100.
  ///
  /// - Throws: an error if the tensor does not fit the labels, or the failure reported by the detector.
  public func objects(of detector: VideoDetector, in letterbox: Letterbox) throws(DetectorFailure) -> [DetectedObject] {
    switch self {
    case .failed(let reason): throw DetectorFailure(reason)
    case .boxes(let boxes):
      let found = boxes.compactMap { box -> DetectedObject? in
        guard box.confidence >= detector.confidence, box.confidence.isFinite,
          let place = letterbox.box(centreX: box.centreX, centreY: box.centreY, width: box.width, height: box.height)
        else { return nil }
        return DetectedObject(label: box.label, confidence: min(1, box.confidence), box: place)
      }
      return Array(found.sorted { $0.confidence > $1.confidence }.prefix(100))
    case .tensor(let values, let channels, let candidates):
      guard channels > 4 else {
        throw DetectorFailure("its output has \(channels) channels: four of a box and one a class were expected")
      }
      guard detector.labels.isEmpty || detector.labels.count == channels - 4 else {
        throw DetectorFailure("its output has \(channels - 4) classes, and there are \(detector.labels.count) labels")
      }
      let labels = detector.labels.isEmpty ? (0..<channels - 4).map { "class \($0)" } : detector.labels
      var output = YOLOv8Output(labels: labels)
      (output.confidence, output.overlap) = (detector.confidence, detector.overlap)
      do throws(YOLOv8Output.Failure) {
        return try output.decode(values, candidates: candidates, in: letterbox)
      } catch {
        throw DetectorFailure("its output: \(error)")
      }
    }
  }
}
