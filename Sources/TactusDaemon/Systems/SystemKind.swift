import ArgumentParser
import AvahiSystemd
import ServiceDocuments
import Store
import TactusGuard

/// A section of the configuration file: its name, and what the reference says above it.
public struct ConfigSection: Sendable {
  let name: String
  let doc: String

  /// - Parameters:
  ///   - name: the top-level key.
  ///   - doc: what the reference prints above the section.
  public init(name: String, doc: String) {
    self.name = name
    self.doc = doc
  }
}

/// A system that a program can have: what the command line and the configuration file need to know of it before any runs.
///
/// The program's list of these is the only list of systems. Nothing here has a default, so that the author of a system is asked
/// for everything. A system without something returns an empty list.
public protocol SystemKind: Sendable {
  /// `pump`: in logs, in `/api/pump`.
  var name: String { get }
  /// The sections of the file that make it run, of which one is enough.
  var sections: [ConfigSection] { get }
  /// Its keys: in its own sections, and in those that every program has (`network.leg_udp_port`, `runtime.leg.priority`).
  var keys: [ConfigKey] { get }
  /// What is a list of mappings, with the most items of each. The keys of an item are `section[].key` or `section.part[].key`.
  var lists: [String: Int] { get }
  /// Keys of earlier versions, and what they are called now.
  var movedKeys: [String: String] { get }
  /// Its tables in the store, or `nil` if it has none. A program has the section `store` if one of its systems has tables.
  var keeping: Keeping? { get }
  /// What a file says of it.
  func reading(of found: ConfigReader.Result, file: String) -> SystemReading
  /// What those of its parts that have numbers are called on the broker: `zone` of `sprinkler/zone/1/state`.
  var numberedParts: [String] { get }
  /// Its own commands: `drive`.
  var commands: [any ParsableCommand.Type] { get }
  /// What `call` can do with it: `robot drive left=30 right=30`.
  var callExamples: [String] { get }
  /// Its card on the page, its part of the API's description, its row of the dashboard, or `nil` if they come from its declaration.
  var documents: SystemDocuments? { get }
  /// Its own commands below `sim`: a device that other programs may speak to.
  var simulatedDevices: [any ParsableCommand.Type] { get }
  /// Plays a scenario.
  ///
  /// - Returns: whether every expectation of the file was met, or `nil` if the file is not a scenario of this system.
  /// - Throws: `ConfigErrors`.
  func play(_ file: YAMLFile, seed: UInt64?) throws -> Bool?
  /// What a scenario of this system simulates, as a part of a sentence in the help of `sim`, or `nil` if it has none.
  var scenarioHelp: String? { get }
  /// Checks of the machine that do not follow from its claims. Also called without a configuration.
  func diagnoses(_ doctor: Doctor) -> [Diagnosis]
  /// Kinds of guard outputs that only this system has, by the name of their custom writes.
  var guardOutputs: [String: (String) throws -> any GuardOutput] { get }
  /// Services that are announced on the local network in addition to the daemon's own.
  func announcements(host: String, port: UInt16, hasTLS: Bool) -> [AnnouncedService]
}

/// How a system uses the program's store.
public struct Keeping: Sendable {
  let tables: StoreSystem
  /// What stops working while the store cannot be used: `no zone opens`, or `nil` if everything works without it.
  let withoutIt: String?

  /// - Parameter withoutIt: what stops working while the store cannot be used, or `nil` if everything works.
  public init(tables: StoreSystem, withoutIt: String?) {
    self.tables = tables
    self.withoutIt = withoutIt
  }
}

/// What a file says of one system.
public struct SystemReading: Sendable {
  /// Empty if the file has none of its sections, or if they have errors.
  var systems: [any AnyConfiguredSystem] = []
  var errors: [ConfigError] = []
  /// Keys that the file gives, and that this build of the program accepts and does not use.
  var unused: [String] = []

  /// - Parameters:
  ///   - system: `nil` if the file has none of its sections, or if they have errors.
  ///   - errors: broken rules that the table of keys cannot check, such as one over two keys.
  ///   - unused: keys that the file gives, and that this build accepts and does not use.
  public init(system: (any AnyConfiguredSystem)? = nil, errors: [ConfigError] = [], unused: [String] = []) {
    (systems, self.errors, self.unused) = ([system].compactMap(\.self), errors, unused)
  }
}
