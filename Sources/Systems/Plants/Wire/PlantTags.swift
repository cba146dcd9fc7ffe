/// A request of a Plant-Tracker client.
public enum PlantRequestTag: String, Sendable, Hashable, CaseIterable {
  case numPlants
  case plantInfoOnStartup
  case plantSensorData
  case addNewPlant
  case deletePlant
  case editPlant

  /// Decodes an operation `REQ_…`, also in the requirement's misspelling `REQ_plantInfoOnStatup`; `nil` if the request is unknown.
  public init?(operation: String) {
    guard operation.hasPrefix("REQ_") else { return nil }
    let name = operation.dropFirst(4)
    if name == "plantInfoOnStatup" {
      self = .plantInfoOnStartup
    } else {
      self.init(rawValue: String(name))
    }
  }

  /// Decodes an operation `RES_…`; `nil` if the request is unknown.
  public init?(response: String) {
    guard response.hasPrefix("RES_") else { return nil }
    self.init(rawValue: String(response.dropFirst(4)))
  }

  /// Whether the request changes stored data.
  public var isChange: Bool {
    switch self {
    case .numPlants, .plantInfoOnStartup, .plantSensorData: false
    case .addNewPlant, .deletePlant, .editPlant: true
    }
  }

  public var request: String { "REQ_\(rawValue)" }
  public var response: String { "RES_\(rawValue)" }
}

/// An error as clients know it. The operation is `ERR_` followed by the name.
public enum PlantErrorTag: String, Sendable, Hashable, CaseIterable {
  /// The message does not have five parts.
  case hashLength
  /// A key has no value.
  case missingVals
  /// A value has no key, or an unknown one.
  case missingKeys
  case invalidOpTag
  /// There is no such plant, or no reading of it.
  case noPlantDataToRequest
  case tooManyPlants
  /// The plant to delete or to edit does not exist.
  case cannotDeletePlant
  case invalidPlantSensorID
  case plantNameTaken
  case plantNameTooLong
  /// More messages than the window allows; known to the original host and app, but not in the requirement.
  case kickedForSpam
  /// The number of sensors is not 1…4. The tag is known to the original host and app, but is not in the requirement.
  case addPlantSensorNumIssue
  /// A name that the protocol cannot transmit; an addition of this program.
  case invalidPlantName
  /// Invalid settings; an addition of this program.
  case invalidPlantSettings
  /// The requested change could not be stored, so nothing was changed.
  case notKept

  public var operation: String { "ERR_\(rawValue)" }

  /// The operation with which a client is answered. The original app ignores the tags that this program adds, so it receives the most similar known
  /// one.
  public var knownOperation: String {
    switch self {
    // The app then shows "The name you are trying to enter is already taken by another plant."
    case .invalidPlantName: Self.plantNameTaken.operation
    // The app then shows "Internal error."
    case .notKept: Self.invalidOpTag.operation
    // The known tags, and `invalidPlantSettings`, which the app cannot cause because it sends no settings.
    default: operation
    }
  }
}
