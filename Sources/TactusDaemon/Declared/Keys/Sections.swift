/// Adopted by a system that has several sections in the file, or one section whose name differs from the system's name.
///
/// ```swift
/// static let sections = [ConfigSection(name: "motors", doc: "The robot's motors. The robot runs when this section is present.")]
/// ```
public protocol Sections: DeviceSystem {
  /// The sections of the system, at least one. Keys without a dot belong to the first section; a list of mappings with
  /// the name of another section is that section. The system runs if the file has any of the sections. The names must
  /// not be used by another system or another part of the program.
  static var sections: [ConfigSection] { get }
}
