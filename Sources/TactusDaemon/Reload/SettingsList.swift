import Service
import Wire

/// The settings of `GET /api/settings`: the keys of the file in effect that `reload` may change, with their values, ranges and sentences.
extension TakenFile {
  /// Returns the document.
  ///
  /// - Parameter set: the keys whose values do not come from the file, but from `PUT /api/settings`.
  func settings(set: Set<String>) -> JSONValue {
    .object([
      "ok": .boolean(true), "file": .text(configuration.file), "host": .text(HostRules.machineName),
      "settings": .list(changeableKeys.map { setting($0, isSet: set.contains($0)) }),
    ])
  }

  /// The keys that may change, in the order of the reference. A key of a list's items is contained once for each item that the file gives.
  var changeableKeys: [String] {
    let given = found.values.keys.sorted()
    return ConfigTable.keys.filter(\.mayChange).flatMap { key -> [String] in
      // Only a start begins or ends a section.
      let section = String(key.path.prefix { $0 != "." && $0 != "[" })
      guard found.sections.contains(section) else { return [] }
      guard key.path.contains("[]") else { return [key.path] }
      return given.filter { $0 != key.path && ConfigTable.key($0)?.path == key.path }
    }
  }

  private func setting(_ path: String, isSet: Bool) -> JSONValue {
    let key = ConfigTable.key(path)
    let isGiven = found.values[path] != nil
    return .object([
      "key": .text(path), "value": value(path) == nil ? .null : .text(shown(path)), "isGiven": .boolean(isGiven),
      "isSet": .boolean(isSet),
      "standard": key?.standard.map { .text("\($0)") } ?? .null, "expected": .text(key.map { "\($0.kind)" } ?? ""),
      "meaning": .text(key?.doc ?? ""),
    ])
  }
}
