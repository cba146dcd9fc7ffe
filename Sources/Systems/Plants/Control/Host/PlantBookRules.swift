/// The limits of a book of plants, and the defaults of a new plant.
public struct PlantBookRules: Sendable, Hashable {
  /// The largest number of plants of one user.
  public var plantsPerUser: Int
  /// The largest number of users with plants. It is bounded because client names are not authenticated and memory is finite.
  public var users: Int
  /// The limits of a plant that has been added without limits.
  public var limits: PlantLimits

  /// By default a user can have seven plants, as in the app.
  public init(plantsPerUser: Int = 7, users: Int = 256, limits: PlantLimits = PlantLimits()) {
    precondition(plantsPerUser > 0 && users > 0, "somebody has a plant")
    self.plantsPerUser = plantsPerUser
    self.users = users
    self.limits = limits
  }
}
