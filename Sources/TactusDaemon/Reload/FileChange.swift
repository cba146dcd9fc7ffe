import Service
import Tactus

/// A configuration file in effect, which determines the changes that a newer version of the file may make.
struct TakenFile: Sendable {
  let configuration: Configuration
  let found: ConfigReader.Result

  /// Returns the value of a key in the file, or its default, or `nil` if there is neither.
  func value(_ key: String) -> ConfigValue? { found.values[key] ?? ConfigTable.key(key)?.standard }
}

/// The reason why a changed file is refused: every reason, with its place.
struct ReloadRefusal: Error {
  let error: APIError

  /// Makes the refusal of a file that has errors.
  init(_ errors: ConfigErrors) {
    error = APIError(.unprocessableContent, "BAD_CONFIG", "\(errors); nothing was changed")
  }

  /// Makes the refusal of a valid file with changes that only a start can apply.
  ///
  /// - Parameter startsNothing: whether the file has no system, with which the program does not start.
  init(needsRestart errors: ConfigErrors, startsNothing: Bool = false) {
    let restart =
      startsNothing ? "a restart would fail, since the file has no system to run" : "a restart takes all of it"
    error = .conflict("NEEDS_RESTART", "\(errors)\nNothing was changed; \(restart)")
  }
}

extension TakenFile {
  /// Returns a file with its configuration, read from the disk and checked.
  static func read(_ path: String, environment: [String: String]) throws(ConfigErrors) -> TakenFile {
    let (configuration, found) = try Configuration.readWhole(path: path, environment: environment)
    return TakenFile(configuration: configuration, found: found)
  }

  /// Returns the value of a key in words for people. A secret is never shown.
  func shown(_ key: String) -> String {
    guard let value = value(key) else { return "nothing" }
    return found.hidden.contains(key) || Self.isSecret(key) ? "a (hidden) value" : "\(value)"
  }

  /// Returns whether the value of a key is a secret.
  static func isSecret(_ key: String) -> Bool {
    // The address of a receiver gives access to everyone who knows it.
    ConfigTable.key(key)?.kind == .secret || key.hasPrefix("notify.receivers") && key.hasSuffix(".url")
  }

  /// Returns the keys whose values differ in a newer file.
  func changedKeys(in new: TakenFile) -> [String] {
    let all = Set(found.values.keys).union(new.found.values.keys)
    return all.filter { value($0) != new.value($0) }.sorted()
  }

  /// Returns the errors for changes in a newer file that only a start can apply.
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
    for (list, count) in new.found.counts
    where found.counts[list] != count && !ConfigTable.listsThatMayChange.contains(list) {
      errors.append(
        places.error(file, list, "expected \(found.counts[list] ?? 0) items while the program runs, got \(count)"))
    }
    for key in changedKeys(in: new) where !mayChange(key) {
      errors.append(places.error(file, key, "expected \(shown(key)) until the next start, got \(new.shown(key))"))
    }
    return errors
  }
}
