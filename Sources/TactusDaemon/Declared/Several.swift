/// A system of which a file may have several: each item of a list is a whole one, with a lane, outputs of the guard's list, a card, and a `name:`.
///
///     enum Kettle: DeviceSystem, Several { static let list = "kettles"; static let most = 4; … }
///
///     kettles:
///       - name: left
///         heater: GPIO17
///       - name: right
///         heater: GPIO27
///
/// The first is `/api/kettle/left`, `…/kettle/left/state` on the broker and `tactus_kettle_…{kettle="left"}`; `runtime.kettle` says how the lanes of
/// all of them run.
public protocol Several: DeviceSystem {
  /// The section of the file in place of `name`: lower-case letters, digits and `_`.
  static var list: String { get }
  /// How many there may be, 1….
  static var most: Int { get }
}

/// Where in the file a system is described, and what it is called.
struct SystemPlace: Sendable, Hashable {
  /// `kettle`, or `kettle/left` of several.
  let name: String
  /// `kettle`, or `kettles[0]` of several.
  let section: String
  /// `left` of several, or `nil` if it is the only one.
  let instance: String?

  /// The only one of its kind.
  ///
  /// - Parameter section: of the file, unless it is called like the system.
  init(only name: String, section: String? = nil) { (self.name, self.section, instance) = (name, section ?? name, nil) }

  /// One of several.
  init(_ instance: String, of kind: String, at section: String) {
    (name, self.section, self.instance) = ("\(kind)/\(instance)", section, instance)
  }

  /// As a part of names that have no slash: `kettle-left`.
  var word: String { name.replacing("/", with: "-") }

  /// The name of one that the file gives none.
  static let standardName = "one"

  /// A loop's name as the program has it: the loops of several systems are told apart.
  func loop(_ name: String) -> String { instance.map { "\(name)/\($0)" } ?? name }

  /// What is wrong with the name of one of several, or `nil` if nothing is.
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
  /// The list of the file of which each item is one system, or `nil` if there is one only.
  static var several: (list: String, most: Int)? {
    (Self.self as? any Several.Type).map { ($0.list, $0.most) }
  }
}
