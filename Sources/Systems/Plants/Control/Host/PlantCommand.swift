/// A client's command concerning its plants, from any interface. Texts are as the client wrote them; `PlantBook` checks them.
public enum PlantCommand: Sendable, Hashable {
  /// Adds a plant; if `limits` is `nil`, the book's default limits apply.
  case add(name: String, sensors: [String], limits: PlantLimits? = nil, area: PlantPictureArea? = nil)
  case delete(name: String)
  case edit(name: String, PlantEdit)
  /// Notes that a person has watered the plant.
  case watered(name: String, at: PlantInstant)
}

/// The changes of an edit; a value that is `nil` stays as it is. A limit or an area of `.some(nil)` is removed.
public struct PlantEdit: Sendable, Hashable {
  public var name: String?
  public var sensors: [String]?
  public var dryPercent: Double??
  public var wetPercent: Double??
  public var coldCelsius: Double??
  public var hotCelsius: Double??
  /// The new picture area: `nil` for no change, `.some(nil)` for the whole picture.
  public var pictureArea: PlantPictureArea??

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

/// The reason why a command was refused: a tag for the protocol, and a field and a message for other interfaces.
public struct PlantRefusal: Error, Sendable, Hashable {
  public var tag: PlantErrorTag
  /// The field, for example `name`, `sensors` or `dryPercent`, or `nil` if the refusal concerns the command as a whole.
  public var field: String?
  public var message: String

  public init(_ tag: PlantErrorTag, field: String? = nil, _ message: String) {
    self.tag = tag
    self.field = field
    self.message = message
  }
}
