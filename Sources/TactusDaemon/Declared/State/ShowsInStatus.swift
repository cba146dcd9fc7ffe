import Tactus

/// Adopted by a system that has members at the top level of `GET /api/status`, besides its state in `systems` there.
public protocol ShowsInStatus: DeviceSystem {
  /// Returns a JSON object whose members stand at the top level. May be called from any thread; must not block.
  static func statusMembers(_ published: Published<State>, _ look: Look<Self>) -> [UInt8]
}

extension ShowsInStatus {
  static func shownInStatus(_ published: Any, _ look: Any) -> [UInt8] {
    // Of this system.
    statusMembers(published as! Published<State>, look as! Look<Self>)
  }
}
