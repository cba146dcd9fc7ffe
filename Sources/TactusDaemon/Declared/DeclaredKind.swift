import ArgumentParser
import AvahiSystemd
import ServiceDocuments
import TactusGuard

/// A declared system as every other is known: all of it comes from its declaration.
struct DeclaredKind<System: DeviceSystem>: SystemKind {
  init(_: System.Type) {}

  var name: String { System.name }
  var sections: [ConfigSection] {
    [ConfigSection(name: System.name, doc: System.summary + " It runs when this section is present.")]
  }
  var keys: [ConfigKey] { ConfigTable.keys(of: System.self) }
  var lists: [String: Int] { [:] }
  var movedKeys: [String: String] { [:] }
  var keeping: Keeping? { nil }

  /// What contradicts itself is reported, and not planned.
  func reading(of found: ConfigReader.Result, file: String) -> SystemReading {
    guard found.sections.contains(System.name) else { return SystemReading() }
    let given = GivenValues(values: found.values)
    let places = ConfigPlaces(marks: found.places)
    let wrong =
      System.Wiring(given, section: System.name).contradictions
      + System.Rules(given, section: System.name).contradictions
    guard wrong.isEmpty else {
      return SystemReading(errors: wrong.map { places.error(file, "\(System.name).\($0.key)", $0.message) })
    }
    do {
      return SystemReading(system: try ConfiguredSystem<System>(given))
    } catch {
      return SystemReading(errors: [places.error(file, System.name, "\(error)")])
    }
  }

  var numberedParts: [String] { [] }
  var commands: [any ParsableCommand.Type] { [] }
  var callExamples: [String] {
    [System.name]
      + System.commands.map { command in
        ([System.name, command.name] + command.parameters.map { "\($0.name)=\($0.example)" }).joined(
          separator: " ")
      }
  }
  var documents: SystemDocuments? { nil }
  var simulatedDevices: [any ParsableCommand.Type] { [] }

  func play(_ file: YAMLFile, seed: UInt64?) throws -> Bool? {
    guard DeclaredScenarioReader<System>.reads(file) else { return nil }
    return try play(file, DeclaredScenarioReader<System>.self, seed: seed, DeclaredScenarioRun<System>.init)
  }

  var scenarioHelp: String? { "one with a part `\(System.name):` this system with its twin" }
  func diagnoses(_ doctor: Doctor) -> [Diagnosis] {
    doctor.pwmOutputs((doctor.configuration?.claims ?? []).filter { $0.key.hasPrefix(System.name + ".") })
  }
  var guardOutputs: [String: (String) throws -> any GuardOutput] { [:] }
  func announcements(host: String, port: UInt16, hasTLS: Bool) -> [AnnouncedService] { [] }
}
