/// What a client, by whatever way it comes, wants of its plants. Texts are as the client wrote them; the book checks them.
public enum PlantCommand: Sendable, Hashable {
  /// If `limits` is `nil` the book's own hold.
  case add(name: String, sensors: [String], limits: PlantLimits? = nil)
  case delete(name: String)
  case edit(name: String, PlantEdit)
  /// A person says so.
  case watered(name: String, at: PlantInstant)
}

/// What an edit changes, or `nil` if there is nothing. A limit of `.some(nil)` is taken away.
public struct PlantEdit: Sendable, Hashable {
  public var name: String?
  public var sensors: [String]?
  public var dryPercent: Double??
  public var wetPercent: Double??
  public var coldCelsius: Double??
  public var hotCelsius: Double??

  public init(name: String? = nil, sensors: [String]? = nil) {
    self.name = name
    self.sensors = sensors
  }

  func apply(to limits: inout PlantLimits) {
    if let dryPercent { limits.dryPercent = dryPercent }
    if let wetPercent { limits.wetPercent = wetPercent }
    if let coldCelsius { limits.coldCelsius = coldCelsius }
    if let hotCelsius { limits.hotCelsius = hotCelsius }
  }
}
