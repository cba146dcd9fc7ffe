/// Adopted by a system that needs access to more of the machine than its bench opens. A confined daemon has no other
/// access, and one whose systems do not adopt it reads no file and looks up no name for them.
public protocol Reaches: DeviceSystem {
  /// Returns the access that the system needs with a valid file.
  static func reach(_ wiring: Wiring, _ rules: Rules) -> Reach
}

/// The access to the machine that a system needs besides its ports.
public struct Reach: Sendable {
  /// The user groups whose members may open the system's devices, besides those of buses and lines.
  var deviceGroups: [String]
  /// The folders in which the system creates files, besides those of the program.
  var folders: [String]
  /// The files that the system reads; the path of a folder ends in "/".
  var files: [String]
  /// Whether the system resolves host names to connect to other machines.
  var looksUpNames: Bool
  /// The values that must never be logged.
  var secrets: [String]

  /// Creates a description of the access.
  ///
  /// - Parameters:
  ///   - deviceGroups: the user groups whose members may open the system's devices, besides those of buses and lines.
  ///   - folders: the folders in which the system creates files, besides those of the program.
  ///   - files: the files that the system reads; the path of a folder ends in "/".
  ///   - looksUpNames: whether the system resolves host names to connect to other machines.
  ///   - secrets: the values that must never be logged.
  public init(
    deviceGroups: [String] = [], folders: [String] = [], files: [String] = [], looksUpNames: Bool = false,
    secrets: [String] = []
  ) {
    (self.deviceGroups, self.folders, self.files) = (deviceGroups, folders, files)
    (self.looksUpNames, self.secrets) = (looksUpNames, secrets)
  }
}

extension Reaches {
  static func reached(_ wiring: Any, _ rules: Any) -> Reach {
    // Of this system.
    reach(wiring as! Wiring, rules as! Rules)
  }
}
