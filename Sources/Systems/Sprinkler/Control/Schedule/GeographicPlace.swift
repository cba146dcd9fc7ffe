/// A place on Earth. An accuracy of about a kilometre is enough for sunrise and sunset.
public struct GeographicPlace: Sendable, Hashable {
  /// The latitude in degrees, north positive; −90…90.
  public var latitude: Double
  /// The longitude in degrees, east positive; −180…180.
  public var longitude: Double

  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }
}
