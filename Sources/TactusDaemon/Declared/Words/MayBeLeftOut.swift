/// Adopted by a system that a build of the program may exclude. A trait of the package decides.
public protocol MayBeLeftOut: DeviceSystem {
  /// Whether this build includes the system.
  static var isBuilt: Bool { get }
  /// The command that builds a program with the system, such as `swift build --traits Video`, for the error about a
  /// file that configures the system.
  static var howToBuild: String { get }
  /// The sections of the system that a file may still have, since they also configure other things. Their keys are
  /// reported as unused.
  static var toleratedSections: [String] { get }
}

extension MayBeLeftOut {
  /// Returns the result of reading the system from a file in a build that excludes it.
  static func reading(withoutIt found: ConfigReader.Result, file: String) -> SystemReading {
    let tolerated = keysOfFile.filter { path in toleratedSections.contains { path.hasPrefix("\($0).") } }
    let places = ConfigPlaces(marks: found.places)
    let asked = sectionsOfFile.map(\.name).filter { found.sections.contains($0) && !toleratedSections.contains($0) }
    return SystemReading(
      errors: asked.map { section in
        places.error(
          file, section,
          "expected no such section: this build has no \(name); `\(howToBuild)` makes one with it", alone: true)
      }, unused: tolerated.filter { found.values[$0] != nil })
  }

  private static var keysOfFile: [String] { ConfigTable.keys(of: Self.self).map(\.path) }
}
