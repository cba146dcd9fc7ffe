import ArgumentParser
import AvahiSystemd
import ServiceDocuments
import TactusGuard

/// A declared system as every other is known: all of it comes from its declaration.
struct DeclaredKind<System: DeviceSystem>: SystemKind {
  init(_: System.Type) {}

  var name: String { System.name }
  var sections: [ConfigSection] { System.sectionsOfFile }
  var keys: [ConfigKey] { ConfigTable.keys(of: System.self) }
  var lists: [String: Int] { ConfigTable.lists(of: System.self) }
  var movedKeys: [String: String] { [:] }
  var keeping: Keeping? { System.declaredKeeping }

  /// What contradicts itself is reported, and not planned.
  func reading(of found: ConfigReader.Result, file: String) -> SystemReading {
    guard let list = System.several?.list else {
      guard System.sectionsOfFile.contains(where: { found.sections.contains($0.name) }) else { return SystemReading() }
      return reading(of: System.onlyPlace, found, file)
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
    let (wiring, rules) = ConfiguredSystem<System>.values(given, at: place)
    let wrong = System.contradictions(wiring, rules, at: place, places)
    guard wrong.isEmpty else { return SystemReading(errors: wrong.map { places.error(file, $0) }) }
    do {
      return SystemReading(system: try ConfiguredSystem<System>(given, at: place))
    } catch {
      return SystemReading(errors: [places.error(file, place.section, "\(error)")])
    }
  }

  var numberedParts: [String] {
    System.fields.compactMap { field in
      guard case .items(let items) = field.shape.content, items.each != System.name else { return nil }
      return items.each
    }
  }
  var commands: [any ParsableCommand.Type] { (System.self as? any HasCommands.Type)?.terminal ?? [] }
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
  func diagnoses(_ doctor: Doctor) -> [Diagnosis] {
    let keys = Set(keys.map(\.path))
    let own = (System.self as? any Checks.Type)?.diagnoses(doctor) ?? []
    return own
      + doctor.pwmOutputs((doctor.configuration?.claims ?? []).filter { keys.contains(ConfigTable.generic($0.key)) })
  }
  var guardOutputs: [String: (String) throws -> any GuardOutput] {
    (System.self as? any GuardsOutputs.Type)?.guardOutputs ?? [:]
  }
  func announcements(host: String, port: UInt16, hasTLS: Bool) -> [AnnouncedService] {
    (System.self as? any Announces.Type)?.announcements(host: host, port: port, hasTLS: hasTLS) ?? []
  }
}
