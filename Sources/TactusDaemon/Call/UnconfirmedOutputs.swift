import Service
import Wire

/// Finds outputs that have not confirmed that they are off, in what a daemon tells of its systems: a member `…Confirmed` that is false, at any depth.
enum UnconfirmedOutputs {
  /// Returns the names of the systems that have such outputs.
  ///
  /// - Parameters:
  ///   - status: the answer to `GET /api/status`.
  ///   - system: the only system to look at, or `nil` for all.
  static func systems(in status: JSONValue, of system: String?) -> [String] {
    let told = status["systems"]?.members ?? []
    return told.filter { (system == nil || $0.name == system) && isIn($0.value) }.map(\.name)
  }

  private static func isIn(_ value: JSONValue) -> Bool {
    if value.items.contains(where: { isIn($0) }) { return true }
    return value.members.contains { member in
      (member.name.hasSuffix("Confirmed") && member.value == .boolean(false)) || isIn(member.value)
    }
  }
}
