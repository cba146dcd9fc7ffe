/// The part of a camera's picture that shows one plant, in percent of the whole picture's width and height.
public struct PlantPictureArea: Sendable, Hashable, Codable {
  /// The distance of the left edge from that of the picture, 0…99 %.
  public let left: Double
  /// The distance of the upper edge from that of the picture, 0…99 %.
  public let top: Double
  /// The width, 1…100 %, and the height, 1…100 %; the area ends within the picture.
  public let width, height: Double

  /// Creates an area, or throws an error with the name of the field.
  public init(left: Double, top: Double, width: Double, height: Double) throws(PlantRefusal) {
    try Self.check(left, "left", 0...99)
    try Self.check(top, "top", 0...99)
    try Self.check(width, "width", 1...(100 - left))
    try Self.check(height, "height", 1...(100 - top))
    (self.left, self.top, self.width, self.height) = (left, top, width, height)
  }

  private static func check(
    _ value: Double, _ name: String, _ range: ClosedRange<Double>
  ) throws(PlantRefusal) {
    guard !range.contains(value) else { return }
    throw PlantRefusal(
      .invalidPlantSettings, field: "pictureArea.\(name)",
      "expected \(range.lowerBound)…\(range.upperBound) % of the picture, got \(value)")
  }
}
