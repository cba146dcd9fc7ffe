/// One event of a plant in the log.
public struct PlantLogLine: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// An alert was raised; `detail` names the alert.
    case raised
    case cleared
    /// The plant was watered, according to a rise of its moisture or to a person.
    case watered
    /// The plant's link has requested water from a sprinkler zone; `detail` is, for example, `zone 2, 60 s`.
    case asked
    /// The request was refused; `detail` gives the reason.
    case refused
    /// A person has calibrated a sensor of the plant; `detail` names the sensor and its two points.
    case calibrated
  }
  public var at: PlantInstant
  public var plant: PlantID
  /// The plant's name at the time of the event.
  public var plantName: String
  public var kind: Kind
  public var detail: String

  public init(at: PlantInstant, plant: PlantID, plantName: String, _ kind: Kind, detail: String = "") {
    self.at = at
    self.plant = plant
    self.plantName = plantName
    self.kind = kind
    self.detail = detail
  }
}
