/// The commented reference file, `config/reference.yaml`: every key of the table with its default.
enum ConfigReference {
  static var text: String {
    let program = DaemonProgram.current.name
    var lines = [
      "# yaml-language-server: $schema=tactus.schema.json",
      "# Every key \(program) knows, with its default. Written by `\(program) check --reference`; do not edit by hand.",
      "# Unknown keys are errors. ${NAME} in a value is replaced by the environment variable NAME: keep secrets there.",
      "# A part of the program runs when its section is present; leave out what you do not need.",
    ]
    for section in ConfigTable.sections {
      lines += ["", "# \(section.doc)", "\(section.name):"]
      if ConfigTable.lists[section.name] != nil {
        lines.append("  -")
        lines += items(of: section.name)
        continue
      }
      var part: Substring?
      for key in ConfigTable.keys where key.path.hasPrefix(section.name + ".") {
        let names = key.path.split(separator: ".")
        if names.count == 3, names[1] != part {
          part = names[1]
          let list = "\(section.name).\(names[1].prefix { $0 != "[" })"
          lines += ConfigTable.listMeanings[list].map { wrapped($0, width: 116).map { "  # " + $0 } } ?? []
          lines.append("  \(names[1].prefix { $0 != "[" }):")
          if names[1].hasSuffix("[]") { lines.append("    -") }
        }
        let indent = names.count < 3 ? "  " : names[1].hasSuffix("[]") ? "      " : "    "
        lines += entry(key, name: names[names.count - 1], indent: indent)
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Returns the lines for the keys of an item of a section that is a list. The item may contain further lists.
  private static func items(of list: String) -> [String] {
    var lines: [String] = []
    var inner: Substring?
    for key in ConfigTable.keys where key.path.hasPrefix(list + "[].") {
      let name = key.path.dropFirst(list.count + 3)
      guard let end = name.firstIndex(of: "[") else {
        lines += entry(key, name: name, indent: "    ")
        continue
      }
      if inner != name[..<end] { lines += ["    \(name[..<end]):", "      -"] }
      inner = name[..<end]
      lines += entry(key, name: name[end...].dropFirst(3), indent: "        ")
    }
    return lines
  }

  private static func entry(_ key: ConfigKey, name: Substring, indent: String) -> [String] {
    let kind = " (\(key.kind))"
    var lines = wrapped(key.doc + kind, width: 118 - indent.count).map { indent + "# " + $0 }
    // A key without a default is shown commented out: unless one must be given, the reference is itself a valid file.
    lines.append(indent + (key.standard.map { "\(name): \($0)" } ?? "# \(name):"))
    return lines
  }

  private static func wrapped(_ text: String, width: Int) -> [String] {
    var lines: [String] = [""]
    for word in text.split(separator: " ") {
      if lines[lines.count - 1].count + word.count + 1 > width { lines.append("") }
      lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
    }
    return lines
  }
}
