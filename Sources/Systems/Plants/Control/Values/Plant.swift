/// A plant's number: assigned once, never reused, and the same in topics, routes and the store.
public struct PlantID: Sendable, Hashable, Comparable, Codable {
  public let number: UInt64

  public init(_ number: UInt64) { self.number = number }

  public static func < (left: Self, right: Self) -> Bool { left.number < right.number }

  public init(from decoder: any Decoder) throws { number = try decoder.singleValueContainer().decode(UInt64.self) }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(number)
  }
}

extension PlantID: CustomStringConvertible {
  public var description: String { "\(number)" }
}

/// A plant as its user describes it, with its stored state.
public struct Plant: Sendable, Hashable, Codable {
  public let id: PlantID
  public let user: PlantUser
  /// The name, unique among the user's plants.
  public var name: PlantName
  /// The sensors, 1…4 different ones. Several plants may have the same sensor.
  public var sensors: [PlantSensorID]
  public var limits: PlantLimits
  /// The instant at which the plant was last watered, according to a person or to a rise of its moisture, or `nil` if that is not known.
  public var lastWatered: PlantInstant?
  /// The calibration of each sensor with which the plant was seen not dry, or with which a person confirmed that it may be watered; `nil` if neither
  /// has happened. While the sensors are calibrated differently, the plant's link requests no water, because a faulty probe could read dry for ever.
  public var proof: [PlantSensorID: PlantCalibration]?
  /// The part of the camera's daily picture that shows the plant, or `nil` for the whole picture.
  public var pictureArea: PlantPictureArea?

  public init(
    id: PlantID, user: PlantUser, name: PlantName, sensors: [PlantSensorID], limits: PlantLimits = PlantLimits(),
    lastWatered: PlantInstant? = nil
  ) {
    self.id = id
    self.user = user
    self.name = name
    self.sensors = sensors
    self.limits = limits
    self.lastWatered = lastWatered
  }
}

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
