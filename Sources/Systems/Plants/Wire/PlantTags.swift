/// What a Plant-Tracker client can ask for.
public enum PlantRequestTag: String, Sendable, Hashable, CaseIterable {
  case numPlants
  case plantInfoOnStartup
  case plantSensorData
  case addNewPlant
  case deletePlant
  case editPlant

  /// Of an operation `REQ_…`. Also as the requirement misspells it: `REQ_plantInfoOnStatup`.
  public init?(operation: String) {
    guard operation.hasPrefix("REQ_") else { return nil }
    let name = operation.dropFirst(4)
    if name == "plantInfoOnStatup" {
      self = .plantInfoOnStartup
    } else {
      self.init(rawValue: String(name))
    }
  }

  /// Of an operation `RES_…`.
  public init?(response: String) {
    guard response.hasPrefix("RES_") else { return nil }
    self.init(rawValue: String(response.dropFirst(4)))
  }

  /// Whether it changes what is kept.
  public var isChange: Bool {
    switch self {
    case .numPlants, .plantInfoOnStartup, .plantSensorData: false
    case .addNewPlant, .deletePlant, .editPlant: true
    }
  }

  public var request: String { "REQ_\(rawValue)" }
  public var response: String { "RES_\(rawValue)" }
}

/// What goes wrong, as clients know it. The operation is `ERR_` and the name.
public enum PlantErrorTag: String, Sendable, Hashable, CaseIterable {
  /// Not five parts.
  case hashLength
  /// A key without a value.
  case missingVals
  /// A value without a key, or without one that is known.
  case missingKeys
  case invalidOpTag
  /// No such plant, or no reading of it.
  case noPlantDataToRequest
  case tooManyPlants
  /// The plant to delete or to edit does not exist.
  case cannotDeletePlant
  case invalidPlantSensorID
  case plantNameTaken
  case plantNameTooLong
  /// From the original host and app, not in the requirement: more messages than the window allows; not 1…4 sensors.
  case kickedForSpam
  case addPlantSensorNumIssue
  /// Ours: a name that the protocol cannot carry; settings that are none.
  case invalidPlantName
  case invalidPlantSettings
  /// What was asked for could not be kept, so nothing was changed.
  case notKept

  public var operation: String { "ERR_\(rawValue)" }

  /// What a client is answered with. The original app shows nothing for a tag of ours, so it gets the nearest of those that it knows.
  public var knownOperation: String {
    switch self {
    // "The name you are trying to enter is already taken by another plant."
    case .invalidPlantName: Self.plantNameTaken.operation
    // "Internal error."
    case .notKept: Self.invalidOpTag.operation
    // The app cannot ask for settings.
    default: operation
    }
  }
}
