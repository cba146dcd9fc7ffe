/// A place on Earth, to about a kilometre: enough for sunrise.
public struct GeographicPlace: Sendable, Hashable {
  /// Degrees, north positive; −90…90.
  public var latitude: Double
  /// Degrees, east positive; −180…180.
  public var longitude: Double

  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }
}
