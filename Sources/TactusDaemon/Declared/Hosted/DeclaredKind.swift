import ArgumentParser
import AvahiSystemd
import ServiceDocuments
import TactusGuard

/// The kind of a declared system, all of whose properties come from the declaration.
struct DeclaredKind<System: DeviceSystem>: SystemKind {
  init(_: System.Type) {}
  var declaration: any DeviceSystem.Type { System.self }

  var name: String { System.name }
  var sections: [ConfigSection] { System.sectionsOfFile }
  var keys: [ConfigKey] { ConfigTable.keys(of: System.self) }
  var lists: [String: Int] { ConfigTable.lists(of: System.self) }
  var movedKeys: [String: String] { (System.self as? any Sections.Type)?.movedKeys ?? [:] }
  var keeping: Keeping? { System.declaredKeeping }

  /// Reads the system's part of a file. A system whose values contradict each other is reported as an error and not
  /// planned.
  func reading(of found: ConfigReader.Result, file: String) -> SystemReading {
    guard let list = System.several?.list else {
      guard System.sectionsOfFile.contains(where: { found.sections.contains($0.name) }) else { return SystemReading() }
      if let absent = System.self as? any Sections.Type, let howToBuild = absent.howToBuild {
        return absent.reading(without: found, file: file, howToBuild: howToBuild)
      }
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
        let words = places.location(of: "\(other).name")
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
    let given = GivenValues(found)
    let places = ConfigPlaces(marks: found.places)
    // An invalid declaration ends `check`, too, and not only a running program.
    _ = (SeenDocument<System>(), System.commands)
    let (wiring, rules) = ConfiguredSystem<System>.values(given, at: place)
    let without =
      wiring.missingKeys { System.path(of: $0, at: place) } + rules.missingKeys { System.path(of: $0, at: place) }
    // Values that cannot be read have been reported already.
    let missing = without.filter { !places.gives($0.key) }
    let wrong = System.contradictions(wiring, rules, at: place, places).filter { contradiction in
      !missing.contains { $0.key == contradiction.blamed[0].key }
    }
    guard missing.isEmpty, wrong.isEmpty else {
      let errors = missing.map { places.error(file, $0.key, $0.message, alone: true) }
      return SystemReading(errors: errors + wrong.map { places.error(file, $0) })
    }
    do {
      return SystemReading(system: try ConfiguredSystem<System>(given, at: place))
    } catch {
      return SystemReading(errors: [places.error(file, place.section, "\(error)")])
    }
  }

  var numberedParts: [String] {
    SeenDocument<System>().shapes.compactMap { shape in
      guard case .items(let items) = shape.content, let each = items.each, each != System.name else { return nil }
      return each
    }
  }
  var commands: [any ParsableCommand.Type] { (System.self as? any HasCommands.Type)?.terminal ?? [] }
  var callExamples: [String] {
    if let given = (System.self as? any Introduces.Type)?.callExamples { return given }
    guard !System.commands.isEmpty else { return [] }
    let words = [System.name] + (System.several == nil ? [] : ["NAME"])
    return [words.joined(separator: " ")]
      + System.commands.map { command in
        let of = command.items == nil ? words : [words.joined(separator: " ") + "/0"]
        let given = command.parameters.filter { !$0.isOptional }.map { "\($0.name)=\($0.example)" }
        return (of + [command.name] + given).joined(separator: " ")
      }
  }
  var documents: SystemDocuments? {
    guard var documents = (System.self as? any HasDocuments.Type)?.documents else { return nil }
    documents.madeAPI = SystemAPI<System>(name).underDocuments.bytes
    return documents
  }
  var simulatedDevices: [any ParsableCommand.Type] {
    (System.self as? any HasCommands.Type)?.simulatedDevices ?? []
  }

  func play(_ file: YAMLFile, seed: UInt64?) throws -> Bool? {
    // The system's own language comes first, since its files may have a part with the system's name, too.
    if let played = try (System.self as? any Plays.Type)?.play(file, seed: seed) { return played }
    return System.isWithoutLoops ? nil : try file.play(in: DeclaredScenario<System>.self, seed: seed)
  }

  var scenarioHelp: String? {
    let made = System.isWithoutLoops ? nil : "one with a part `\(System.name):` this system with its twin"
    return (System.self as? any Plays.Type)?.scenarioHelp ?? made
  }
  func diagnoses(_ doctor: Doctor) -> [Diagnosis] {
    let keys = Set(keys.map(\.path))
    let own = (System.self as? any Checks.Type)?.diagnoses(doctor) ?? []
    let systems = (doctor.configuration?.systems.all ?? [])
    return own
      + doctor.sensors(systems.flatMap(\.sensors).filter { keys.contains(ConfigTable.generic($0.key)) })
      + doctor.pwmOutputs((doctor.configuration?.claims ?? []).filter { keys.contains(ConfigTable.generic($0.key)) })
  }
  var guardOutputs: [String: (String) throws -> any GuardOutput] {
    (System.self as? any Reaches.Type)?.guardOutputs ?? [:]
  }
  func announcements(host: String, port: UInt16, hasTLS: Bool) -> [AnnouncedService] {
    (System.self as? any Reaches.Type)?.announcements(host: host, port: port, hasTLS: hasTLS) ?? []
  }
}
