import Service
import Sprinkler

/// What the original app reads of `GET /api/status`, beside what is there already.
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
    /// What only the original's own forecast knew.
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
