/// The acknowledgements that clients have returned as unknown. At most `capacity` clients are kept: beyond that, the client whose first bounce is
/// oldest is forgotten and receives acknowledgements until the next bounce.
struct PlantBounces: Sendable, Hashable {
  static let capacity = 1024
  private var requests: [PlantUser: Set<PlantRequestTag>] = [:]
  /// The clients in the order of their first bounce.
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
