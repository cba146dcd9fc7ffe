import Service
import Sprinkler

/// The members that the original app reads from `GET /api/status`, in addition to those of the API.
struct LegacyStatus: Encodable {
  struct Pin: Encodable {
    let pin: Int
    let name: String
    let isActive, isEnabled: Bool

    private enum CodingKeys: String, CodingKey {
      case pin, name
      case isActive = "is_active"
      case isEnabled = "is_enabled"
    }
  }

  struct Rain: Encodable {
    let isActive: Bool
    @OrNull var endsAt: String?
    @OrNull var durationHours: Int?
    /// The chance of rain, which only the original backend's forecast had; always `nil`, as are the threshold and the zip code.
    @OrNull var chancePercent: Int? = nil
    @OrNull var thresholdPercent: Int? = nil
    @OrNull var zipCode: String? = nil
    let automationEnabled: Bool

    private enum CodingKeys: String, CodingKey {
      case isActive = "is_active"
      case endsAt = "ends_at"
      case durationHours = "duration_hours"
      case chancePercent = "chance_percent"
      case thresholdPercent = "threshold_percent"
      case zipCode = "zip_code"
      case automationEnabled = "automation_enabled"
    }
  }

  let lastUpdated: String
  let pins: [Pin]
  let schedules: [LegacySchedule]
  let rain: Rain

  private enum CodingKeys: String, CodingKey {
    case pins, schedules, rain
    case lastUpdated = "last_updated"
  }
}
