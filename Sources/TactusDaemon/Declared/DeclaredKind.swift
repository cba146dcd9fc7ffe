import ArgumentParser
import AvahiSystemd
import ServiceDocuments
import TactusGuard

/// A declared system as every other is known: all of it comes from its declaration.
struct DeclaredKind<System: DeviceSystem>: SystemKind {
  init(_: System.Type) {}

  var name: String { System.name }
  var sections: [ConfigSection] {
    let doc =
      System.several == nil ? "It runs when this section is present." : "Each item of this list is one, with a name."
    return [ConfigSection(name: System.several?.list ?? System.name, doc: "\(System.summary) \(doc)")]
  }
  var keys: [ConfigKey] { ConfigTable.keys(of: System.self) }
  var lists: [String: Int] { ConfigTable.lists(of: System.self) }
  var movedKeys: [String: String] { [:] }
  var keeping: Keeping? { System.declaredKeeping }

  /// What contradicts itself is reported, and not planned.
  func reading(of found: ConfigReader.Result, file: String) -> SystemReading {
    guard let list = System.several?.list else {
      guard found.sections.contains(System.name) else { return SystemReading() }
      return reading(of: SystemPlace(only: System.name), found, file)
    }
    var readings = SystemReading()
    var sections: [String: String] = [:]
    let places = ConfigPlaces(marks: found.places)
    for index in 0..<(found.counts[list] ?? 0) {
      let section = "\(list)[\(index)]"
      let name = if case .text(let name)? = found.values["\(section).name"] { name } else { SystemPlace.standardName }
      if let complaint = SystemPlace.complaint(name) {
        readings.errors.append(places.error(file, "\(section).name", complaint))
        continue
      }
      if let other = sections.updateValue(section, forKey: name) {
        let words = places.words("\(other).name")
        readings.errors.append(
          places.error(file, "\(section).name", "expected another name than \(words), got \(name)"))
        continue
      }
      let one = reading(of: SystemPlace(name, of: System.name, at: section), found, file)
      readings.systems += one.systems
      readings.errors += one.errors
    }
    return readings
  }

  private func reading(of place: SystemPlace, _ found: ConfigReader.Result, _ file: String) -> SystemReading {
    let given = GivenValues(values: found.values, counts: found.counts)
    let places = ConfigPlaces(marks: found.places)
    let wrong =
      System.Wiring(given, section: place.section).contradictions
      + System.Rules(given, section: place.section).contradictions
    guard wrong.isEmpty else {
      return SystemReading(errors: wrong.map { places.error(file, "\(place.section).\($0.key)", $0.message) })
    }
    do {
      return SystemReading(system: try ConfiguredSystem<System>(given, at: place))
    } catch {
      return SystemReading(errors: [places.error(file, place.section, "\(error)")])
    }
  }

  var numberedParts: [String] { [] }
  var commands: [any ParsableCommand.Type] { [] }
  var callExamples: [String] {
    let words = [System.name] + (System.several == nil ? [] : ["NAME"])
    return [words.joined(separator: " ")]
      + System.commands.map { command in
        (words + [command.name] + command.parameters.map { "\($0.name)=\($0.example)" }).joined(
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
  func swarmPart(seed: UInt64) throws -> (any SwarmPart)? { try DeclaredSwarm<System>(seed: seed) }
  func diagnoses(_ doctor: Doctor) -> [Diagnosis] {
    doctor.pwmOutputs(
      (doctor.configuration?.claims ?? []).filter { claim in
        System.several.map { claim.key.hasPrefix($0.list + "[") } ?? claim.key.hasPrefix(System.name + ".")
      })
  }
  var guardOutputs: [String: (String) throws -> any GuardOutput] { [:] }
  func announcements(host: String, port: UInt16, hasTLS: Bool) -> [AnnouncedService] { [] }
}
