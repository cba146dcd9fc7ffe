/// A Raspberry Pi's config.txt, which tells the firmware what to do before it starts the kernel.
///
/// Settings under a filter such as `[cm4]` hold for some boards only and are ignored; `[all]` ends a filter. If a
/// device tree parameter is set several times, the last setting holds.
struct FirmwareConfiguration: Equatable {
  let path: String
  private(set) var lines: [String]
  /// The filter that applies at the end of the file, or `nil` if no filter does.
  private var lastFilter: String?
  /// The settings without a filter: the index of the line, the key and the value.
  private var settings: [(line: Int, key: String, value: String)] = []

  static func == (one: Self, other: Self) -> Bool { one.path == other.path && one.lines == other.lines }

  /// Reads the text of a config.txt.
  ///
  /// - Throws: an error for a line that is neither a setting, a filter nor a comment, and for an included file, which is not read here.
  init(_ text: String, path: String) throws(BootFileError) {
    self.path = path
    lines = text.lines
    for (index, line) in lines.enumerated() {
      let content = line.prefix { $0 != "#" }.trimmingSpaces
      if content.isEmpty { continue }
      if content.first == "[" {
        guard content.last == "]", content.count > 2 else { throw error(index, "a filter as [all]", line) }
        lastFilter = content == "[all]" ? nil : content
        continue
      }
      guard let equals = content.firstIndex(of: "="), equals != content.startIndex else {
        throw error(index, "KEY=VALUE, [FILTER] or # a comment", line)
      }
      guard lastFilter == nil else { continue }
      settings.append((index, String(content[..<equals]), String(content[content.index(after: equals)...])))
    }
  }

  private func error(_ index: Int, _ expected: String, _ line: String) -> BootFileError {
    BootFileError(path: path, line: index + 1, expected: expected, got: line)
  }

  var text: String { lines.isEmpty ? "" : lines.joined(separator: "\n") + "\n" }

  // MARK: what it says

  /// Returns the value of a key such as `enable_uart`, or `nil` if it is not set.
  func value(of key: String) -> String? { settings.last { $0.key == key }?.value }

  /// Returns the value of a device tree parameter under any of its names: `on`, `off` or any other text, or `nil` if it is not set.
  func parameter(_ names: String...) -> String? {
    for (_, key, value) in settings.reversed() where key == "dtparam" {
      for pair in value.split(separator: ",").reversed() {
        let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingSpaces }
        if let name = parts.first, names.contains(name) {
          let value = parts.count == 2 ? parts[1] : "on"
          return ["on", "1", "yes", "true", "okay"].contains(value) ? "on" : value
        }
      }
    }
    return nil
  }

  /// Returns whether one of these overlays is loaded.
  func hasOverlay(_ names: String...) -> Bool {
    settings.contains { names.contains($0.value.prefix { $0 != "," }.trimmingSpaces) && $0.key == "dtoverlay" }
  }

  // MARK: changes

  /// Adds a line that holds for every board, under a comment that states its origin.
  mutating func append(_ setting: String, comment: String) {
    if lastFilter != nil {
      lines += ["", "[all]"]
      lastFilter = nil
    }
    if !lines.contains("# \(comment)") { lines.append("# \(comment)") }
    lines.append(setting)
    let parts = setting.split(separator: "=", maxSplits: 1).map(String.init)
    settings.append((lines.count - 1, parts[0], parts.count == 2 ? parts[1] : ""))
  }
}

/// A Raspberry Pi's cmdline.txt, which holds the kernel's arguments in one line.
struct KernelArguments: Equatable {
  let path: String
  private(set) var arguments: [String]

  /// Reads the text of a cmdline.txt.
  ///
  /// - Throws: an error for an empty file, and for more than one line, because the firmware reads only the first.
  init(_ text: String, path: String) throws(BootFileError) {
    self.path = path
    let lines = text.lines
    guard let first = lines.first, !first.trimmingSpaces.isEmpty else {
      throw BootFileError(path: path, line: 1, expected: "the kernel's arguments", got: "nothing")
    }
    if let second = lines.dropFirst().firstIndex(where: { !$0.trimmingSpaces.isEmpty }) {
      throw BootFileError(path: path, line: second + 1, expected: "one line in all", got: lines[second])
    }
    arguments = first.trimmingSpaces.split(separator: " ").map(String.init)
  }

  var text: String { arguments.joined(separator: " ") + "\n" }

  /// Returns the value of an argument such as `isolcpus`, or `nil` if it is missing.
  func value(of name: String) -> String? {
    arguments.last { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
  }

  mutating func append(_ argument: String) { arguments.append(argument) }

  /// Removes the consoles on the header's serial line.
  mutating func removeSerialConsoles() { arguments.removeAll(where: Self.isSerialConsole) }

  static func isSerialConsole(_ argument: String) -> Bool {
    ["console=serial0", "console=ttyAMA0", "console=ttyS0"].contains(String(argument.prefix { $0 != "," }))
  }
}

extension String {
  /// The lines without their line ends. The text is split by scalars, because Swift treats a carriage return and a newline as one character.
  var lines: [String] {
    var lines = unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    if lines.last == "" { lines.removeLast() }
    return lines
  }
}

extension StringProtocol {
  fileprivate var trimmingSpaces: String {
    func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" || character == "\r" }
    return String(drop(while: isSpace).reversed().drop(while: isSpace).reversed())
  }
}

/// The error for a file whose text is not understood and which is therefore left unchanged.
struct BootFileError: Error, Equatable, CustomStringConvertible {
  var path: String
  /// The line, counted from 1.
  var line: Int
  var expected: String
  var got: String

  var description: String { "\(path):\(line): expected \(expected), got \(got)" }
}
