/// What a book of plants allows, and what a new plant begins with.
public struct PlantBookRules: Sendable, Hashable {
  /// Plants of one user, at most.
  public var plantsPerUser: Int
  /// Users with plants, at most: nothing authenticates a client's name, and memory ends.
  public var users: Int
  /// Of a plant without limits of its own.
  public var limits: PlantLimits

  /// As the app has it: seven plants.
  public init(plantsPerUser: Int = 7, users: Int = 256, limits: PlantLimits = PlantLimits()) {
    precondition(plantsPerUser > 0 && users > 0, "somebody has a plant")
    self.plantsPerUser = plantsPerUser
    self.users = users
    self.limits = limits
  }
}
