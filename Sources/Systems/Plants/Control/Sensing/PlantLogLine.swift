/// One thing that happened to a plant, as the log keeps it.
public struct PlantLogLine: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// An alert; `detail` names it.
    case raised
    case cleared
    /// Its moisture rose, or a person said so.
    case watered
    /// Its link asked a sprinkler zone for water; `detail`: `zone 2, 60 s`.
    case asked
    /// That was refused; `detail` says why.
    case refused
  }
  public var at: PlantInstant
  public var plant: PlantID
  /// As it was called then.
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
