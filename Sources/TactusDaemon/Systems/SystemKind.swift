import ArgumentParser
import AvahiSystemd
import ServiceDocuments
import Store
import TactusGuard

/// A section of the configuration file: its name and its description in the reference.
public struct ConfigSection: Sendable {
  let name: String
  let doc: String

  /// Creates a section.
  ///
  /// - Parameters:
  ///   - name: the top-level key.
  ///   - doc: the text that the reference prints above the section.
  public init(name: String, doc: String) {
    self.name = name
    self.doc = doc
  }
}

/// A declared system that a program can have, without its type: what the command line and the configuration file need to
/// know of it before any system runs. `DeclaredKind` makes all of it from the declaration. A system without a feature
/// returns an empty list or `nil`.
protocol SystemKind: Sendable {
  /// The declaration of the system.
  var declaration: any DeviceSystem.Type { get }
  /// The name of the system in logs and in paths such as `/api/pump`: `pump`.
  var name: String { get }
  /// The sections of the file; the system runs if the file has at least one of them.
  var sections: [ConfigSection] { get }
  /// The keys of the system, both in its own sections and in the sections that every program has
  /// (`network.leg_udp_port`, `runtime.leg.priority`).
  var keys: [ConfigKey] { get }
  /// The names of the lists of mappings, with the maximum number of items of each. The keys of an item are
  /// `section[].key` or `section.part[].key`.
  var lists: [String: Int] { get }
  /// The current names of keys by their names in earlier versions.
  var movedKeys: [String: String] { get }
  /// The system's use of the store, or `nil` if it has no tables there. A program has the section `store` if one of its
  /// systems has tables.
  var keeping: Keeping? { get }
  /// Reads the system from a file. Returns the configured systems and the errors.
  func reading(of found: ConfigReader.Result, file: String) -> SystemReading
  /// The names of numbered parts on the broker, such as `zone` in `sprinkler/zone/1/state`.
  var numberedParts: [String] { get }
  /// The additional commands of the system, such as `drive`.
  var commands: [any ParsableCommand.Type] { get }
  /// Examples of `call` for the system, such as `robot drive left=30 right=30`.
  var callExamples: [String] { get }
  /// The hand-written card and part of the OpenAPI description of the system, or `nil` if they come from its
  /// declaration.
  var documents: SystemDocuments? { get }
  /// The additional commands below `sim`, which simulate devices for other programs to connect to.
  var simulatedDevices: [any ParsableCommand.Type] { get }
  /// Plays a scenario.
  ///
  /// - Returns: whether every expectation of the file was met, or `nil` if the file is not a scenario of this system.
  /// - Throws: `ConfigErrors` if the file is invalid.
  func play(_ file: YAMLFile, seed: UInt64?) throws -> Bool?
  /// The subject of the system's scenarios as part of a sentence in the help of `sim`, or `nil` if the system has no
  /// scenarios.
  var scenarioHelp: String? { get }
  /// Returns the results of checks of the machine that do not follow from the system's claims. Also called without a
  /// configuration.
  func diagnoses(_ doctor: Doctor) -> [Diagnosis]
  /// The functions that open additional kinds of guard outputs, by the name of their custom writes.
  var guardOutputs: [String: (String) throws -> any GuardOutput] { get }
  /// Returns the services to announce on the local network besides that of the daemon.
  func announcements(host: String, port: UInt16, hasTLS: Bool) -> [AnnouncedService]
}

/// The use of the program's store by a system.
public struct Keeping: Sendable {
  let tables: StoreSystem
  /// The functions that stop working while the store cannot be used, such as `no zone opens`, or `nil` if everything
  /// works without the store.
  let withoutIt: String?

  /// Creates the description.
  ///
  /// - Parameter withoutIt: the functions that stop working while the store cannot be used, or `nil` if everything
  ///   works.
  public init(tables: StoreSystem, withoutIt: String?) {
    self.tables = tables
    self.withoutIt = withoutIt
  }
}

/// The result of reading a system's part of a file.
struct SystemReading: Sendable {
  /// The systems that were read; empty if the file has none of the sections of the system, or if they have errors.
  var systems: [any AnyConfiguredSystem] = []
  var errors: [ConfigError] = []
  /// The keys in the file that this build of the program accepts but does not use.
  var unused: [String] = []

  /// Creates the result.
  ///
  /// - Parameters:
  ///   - system: the system that was read, or `nil` if the file has none of its sections, or if they have errors.
  ///   - errors: violated constraints that the table of keys cannot check, such as one on two keys.
  ///   - unused: the keys in the file that this build accepts but does not use.
  init(system: (any AnyConfiguredSystem)? = nil, errors: [ConfigError] = [], unused: [String] = []) {
    (systems, self.errors, self.unused) = ([system].compactMap(\.self), errors, unused)
  }
}
