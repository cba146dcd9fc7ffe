/// A protocol for a system that a file may configure several times. Each item of a list is a complete system with its
/// own lane, guarded outputs, card and `name:`.
///
/// ```swift
/// enum Kettle: DeviceSystem, Several { static let list = "kettles"; static let most = 4; … }
/// ```
///
/// ```yaml
/// kettles:
///   - name: left
///     heater: GPIO17
///   - name: right
///     heater: GPIO27
/// ```
///
/// The first of these is `/api/kettle/left`, `…/kettle/left/state` on the broker, and `tactus_kettle_…{kettle="left"}`
/// in metrics. `runtime.kettle` configures the lanes of all of them.
public protocol Several: DeviceSystem {
  /// The name of the section that replaces `name` in the file: lower-case letters, digits and `_`.
  static var list: String { get }
  /// The maximum number of systems in a file, at least 1.
  static var most: Int { get }
}

/// The place in the file where a system is configured, and the system's name.
struct SystemPlace: Sendable, Hashable {
  /// The name of the system: `kettle`, or `kettle/left` for one of several.
  let name: String
  /// The path of the system's section: `kettle`, or `kettles[0]` for one of several.
  let section: String
  /// The name of this system among several, such as `left`, or `nil` if the file can have only one.
  let instance: String?

  /// Creates the place of a system of which a file can have only one.
  ///
  /// - Parameter section: the section in the file; unless given it has the system's name.
  init(only name: String, section: String? = nil) { (self.name, self.section, instance) = (name, section ?? name, nil) }

  /// Creates the place of one of several systems.
  init(_ instance: String, of kind: String, at section: String) {
    (name, self.section, self.instance) = ("\(kind)/\(instance)", section, instance)
  }

  /// The name with dashes in place of slashes, for identifiers: `kettle-left`.
  var word: String { name.replacing("/", with: "-") }

  /// The name of a system to which the file gives no name.
  static let standardName = "one"

  /// Returns the name of a loop within the program. The name includes the instance, so that the loops of several
  /// systems can be told apart.
  func loop(_ name: String) -> String { instance.map { "\(name)/\($0)" } ?? name }

  /// Returns an error message for the name of one of several systems, or `nil` if the name is valid.
  static func complaint(_ name: String) -> String? {
    let isWord =
      (1...16).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
      }
    return isWord ? nil : "expected a name of at most 16 lower-case letters, digits and dashes, got \(name)"
  }
}

extension DeviceSystem {
  /// The list in the file whose items each configure one system, with its maximum length; `nil` if a file can have only
  /// one system of this kind.
  static var several: (list: String, most: Int)? {
    (Self.self as? any Several.Type).map { ($0.list, $0.most) }
  }
}
