/// Something that a detector has seen in a picture.
public struct DetectedObject: Sendable, Hashable {
  /// `person`
  public var label: String
  /// 0…1.
  public var confidence: Float
  public var box: DetectedBox

  public init(label: String, confidence: Float, box: DetectedBox) {
    (self.label, self.confidence, self.box) = (label, confidence, box)
  }
}

/// Where it is: fractions of the picture's width and height from its upper left corner, each 0…1.
public struct DetectedBox: Sendable, Hashable {
  public var left: Float
  public var top: Float
  public var width: Float
  public var height: Float

  public init(left: Float, top: Float, width: Float, height: Float) {
    (self.left, self.top, self.width, self.height) = (left, top, width, height)
  }

  public var area: Float { width * height }

  /// Common area by area of both together, 0…1; two empty boxes have nothing in common.
  public func overlap(_ other: DetectedBox) -> Float {
    let common =
      max(0, min(left + width, other.left + other.width) - max(left, other.left))
      * max(0, min(top + height, other.top + other.height) - max(top, other.top))
    let both = area + other.area - common
    return both > 0 ? common / both : 0
  }
}
