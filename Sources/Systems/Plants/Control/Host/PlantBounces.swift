/// Which acknowledgements a client has sent back as unknown to it. Bounded: of more than `capacity` clients the one that did so first is
/// forgotten, and bounces once more.
struct PlantBounces: Sendable, Hashable {
  static let capacity = 1024
  private var requests: [PlantUser: Set<PlantRequestTag>] = [:]
  /// In the order of their first bounce.
  private var users: [PlantUser] = []

  mutating func note(_ request: PlantRequestTag, of user: PlantUser) {
    if requests[user] == nil {
      if users.count >= Self.capacity { requests[users.removeFirst()] = nil }
      users.append(user)
    }
    requests[user, default: []].insert(request)
  }

  func has(_ request: PlantRequestTag, of user: PlantUser) -> Bool { requests[user]?.contains(request) ?? false }
}
