import Plants
import Service

extension PlantRefusal {
  var apiError: APIError {
    let field = field
    switch tag {
    case .plantNameTaken: return APIError(.conflict, "NAME_TAKEN", message, field: field)
    case .tooManyPlants: return APIError(.conflict, "TOO_MANY_PLANTS", message)
    case .cannotDeletePlant, .noPlantDataToRequest: return .notFound(message)
    default:
      return APIError(.unprocessableContent, "VALIDATION", "\(field.map { "\($0): " } ?? "")\(message)", field: field)
    }
  }
}
