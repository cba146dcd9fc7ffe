import Service
import Tactus

/// A configuration file as it was taken, and what may be taken of it when it has changed.
struct TakenFile: Sendable {
  let configuration: Configuration
  let found: ConfigReader.Result

  /// What the file says of a key, or its default.
  func value(_ key: String) -> ConfigValue? { found.values[key] ?? ConfigTable.key(key)?.standard }
}

/// Why a changed file is not taken: every reason, with its place.
struct ReloadRefusal: Error {
  let error: APIError

  /// The file is wrong.
  init(_ errors: ConfigErrors) {
    error = APIError(.unprocessableContent, "BAD_CONFIG", "\(errors); nothing was changed")
  }

  /// It is right, and says what only a start can take.
  init(needsRestart errors: ConfigErrors) {
    error = .conflict("NEEDS_RESTART", "\(errors)\nNothing was changed; a restart takes all of it")
  }
}

extension TakenFile {
  /// Reads and checks a file.
  static func read(_ path: String, environment: [String: String]) throws(ConfigErrors) -> TakenFile {
    let (configuration, found) = try Configuration.readWhole(path: path, environment: environment)
    return TakenFile(configuration: configuration, found: found)
  }

  /// The same for people: never a secret.
  private func shown(_ key: String) -> String {
    guard let value = value(key) else { return "nothing" }
    return found.hidden.contains(key) || SecretNames.isSecret(key.utf8) ? "a (hidden) value" : "\(value)"
  }

  /// The keys that a newer file gives other values.
  func changedKeys(in new: TakenFile) -> [String] {
    let all = Set(found.values.keys).union(new.found.values.keys)
    return all.filter { value($0) != new.value($0) }.sorted()
  }

  /// What of a newer file only a start can take.
  ///
  /// - Parameter mayChange: whether a key may change while the program runs.
  func refusals(of new: TakenFile, mayChange: (String) -> Bool) -> [ConfigError] {
    let places = ConfigPlaces(marks: new.found.places)
    let file = new.configuration.file
    var errors = found.sections.symmetricDifference(new.found.sections).sorted().map { section in
      places.error(
        file, section,
        found.sections.contains(section)
          ? "the program runs with this section, which the file no longer has: expected it, got nothing"
          : "expected no new section while the program runs, got one")
    }
    for (list, count) in new.found.counts where found.counts[list] != count {
      errors.append(
        places.error(file, list, "expected \(found.counts[list] ?? 0) items while the program runs, got \(count)"))
    }
    for key in changedKeys(in: new) where !mayChange(key) {
      errors.append(places.error(file, key, "expected \(shown(key)) until the next start, got \(new.shown(key))"))
    }
    return errors
  }
}
