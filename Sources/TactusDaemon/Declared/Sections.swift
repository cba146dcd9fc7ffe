/// Adopted by a system that has several sections of the file, or one that is called otherwise than the system.
///
///     static let sections = [ConfigSection(name: "motors", doc: "The robot's motors. The robot runs when this section is present.")]
public protocol Sections: DeviceSystem {
  /// One at least. The keys without a dot are in the first one; a list of mappings that is called like another is that section. A system runs when the
  /// file has one of them. No other system and no part of the program has a section of these names.
  static var sections: [ConfigSection] { get }
}
