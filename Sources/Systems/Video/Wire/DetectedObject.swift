/// An object that a detector has found in a picture.
public struct DetectedObject: Sendable, Hashable {
  /// The class of the object, such as `person`.
  public var label: String
  /// The confidence of the detection, 0…1.
  public var confidence: Float
  public var box: DetectedBox

  public init(label: String, confidence: Float, box: DetectedBox) {
    (self.label, self.confidence, self.box) = (label, confidence, box)
  }
}

/// The position of an object: fractions of the picture's width and height from its upper left corner, each 0…1.
public struct DetectedBox: Sendable, Hashable {
  public var left: Float
  public var top: Float
  public var width: Float
  public var height: Float

  public init(left: Float, top: Float, width: Float, height: Float) {
    (self.left, self.top, self.width, self.height) = (left, top, width, height)
  }

  public var area: Float { width * height }

  /// Returns the area that both boxes share, as a fraction 0…1 of the area that they cover together; 0 for two empty boxes.
  public func overlap(_ other: DetectedBox) -> Float {
    let common =
      max(0, min(left + width, other.left + other.width) - max(left, other.left))
      * max(0, min(top + height, other.top + other.height) - max(top, other.top))
    let both = area + other.area - common
    return both > 0 ? common / both : 0
  }
}
