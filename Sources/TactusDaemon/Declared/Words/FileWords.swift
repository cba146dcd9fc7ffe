/// A protocol for a system that has several sections in the file, one section whose name differs from the system's
/// name, keys that had other names in earlier versions, or a trait of the package that leaves it out of a build.
///
/// ```swift
/// static let sections = [ConfigSection(name: "motors", doc: "The robot's motors. The robot runs when this section is present.")]
/// ```
public protocol Sections: DeviceSystem {
  /// The sections of the system, at least one. Keys without a dot belong to the first section; a list of mappings with
  /// the name of another section is that section. The system runs if the file has any of the sections. The names must
  /// not be used by another system or another part of the program.
  static var sections: [ConfigSection] { get }
  /// The current names of keys by their names in earlier versions; empty by default.
  static var movedKeys: [String: String] { get }
  /// The command that builds a program with the system, such as `swift build --traits Video`, for the error about a file that configures a system
  /// which this build is without; `nil`, as by default, if this build has the system.
  static var howToBuild: String? { get }
  /// The sections that a file may still have if this build is without the system, since they also configure other things; none by default. Their keys are
  /// reported as unused.
  static var toleratedSections: [String] { get }
}

extension Sections {
  /// An empty dictionary, because no key had another name.
  public static var movedKeys: [String: String] { [:] }
  /// The value `nil`, because every build has the system.
  public static var howToBuild: String? { nil }
  /// An empty list, because no section configures other things.
  public static var toleratedSections: [String] { [] }

  /// Returns the result of reading the system from a file in a build that excludes it.
  static func reading(without found: ConfigReader.Result, file: String, howToBuild: String) -> SystemReading {
    let tolerated = ConfigTable.keys(of: Self.self).map(\.path).filter { path in
      toleratedSections.contains { path.hasPrefix("\($0).") }
    }
    let places = ConfigPlaces(marks: found.places)
    let asked = sectionsOfFile.map(\.name).filter { found.sections.contains($0) && !toleratedSections.contains($0) }
    return SystemReading(
      errors: asked.map { section in
        places.error(
          file, section,
          "expected no such section: this build has no \(name); `\(howToBuild)` makes one with it", alone: true)
      }, unused: tolerated.filter { found.values[$0] != nil })
  }
}

/// A protocol for a system whose lane has an unusual priority or an unusual name in the reference, whose file sets the
/// number of missed ticks after which the safe state is entered, or whose loop needs larger mailboxes than the standard
/// ones.
///
/// ```swift
/// static let lane = LaneKeys(
///   "runtime.robot", "the motors' lane", priority: 80, safeStateAfter: (10, "the robot stops and is in fault until a reset"))
/// ```
///
/// `bench.safeStateAfter` is then the number in the file, for `mailbox.loop(…, safeStateAfter:)`.
public protocol ShapesLane: DeviceSystem {
  /// The keys of `runtime.NAME`, where NAME is the system's name.
  static var lane: LaneKeys { get }
  /// The sizes of the mailboxes between the loop and its clients; by default the standard ones.
  static var mailbox: MailboxShape { get }
}

extension ShapesLane {
  /// The standard sizes of the mailboxes between the loop and its clients.
  public static var mailbox: MailboxShape { MailboxShape() }
}

/// A protocol for a system whose loop uses its rules in another form than the file has, such as pulse widths instead of
/// microseconds, or one struct made of several lists.
///
/// `LoopRules` is nested under that name. As in every system, the `limit:` of the file's keys decides which changes
/// wait for the safe state.
public protocol ConvertsRules: DeviceSystem {
  /// Returns the rules in the form that the loop uses. The function is called on the main thread with values that have
  /// no contradictions, whenever the rules are needed or change. It cannot fail.
  static func loopRules(_ wiring: Wiring, _ rules: Rules) -> LoopRules
}
