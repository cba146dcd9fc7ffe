import Service
import Wire

/// Finds outputs that have not confirmed that they are off, in what a daemon tells of its systems: a member `…Confirmed` that is false, at any depth.
enum UnconfirmedOutputs {
  /// Returns the names of the systems that have such outputs, or `nil` if the answer does not tell the state of what was stopped.
  ///
  /// - Parameters:
  ///   - status: the answer to `GET /api/status`.
  ///   - segments: the path of the emergency stop: `["api", "pump", "e-stop"]`, or `["api", "e-stop"]` for all systems.
  static func systems(in status: JSONValue, of segments: [String]) -> [String]? {
    guard case .object(let told)? = status["systems"] else { return nil }
    // The name of one of several, such as `kettle/left`, is two segments of the path.
    let path = segments.dropFirst().dropLast().joined(separator: "/")
    let stopped = path.isEmpty ? told : told.filter { path == $0.name || path.hasPrefix($0.name + "/") }
    guard path.isEmpty || !stopped.isEmpty else { return nil }
    return stopped.filter { isIn($0.value) }.map(\.name)
  }

  private static func isIn(_ value: JSONValue) -> Bool {
    if value.items.contains(where: { isIn($0) }) { return true }
    return value.members.contains { member in
      (member.name.hasSuffix("Confirmed") && member.value == .boolean(false)) || isIn(member.value)
    }
  }
}
