/// One `--write` of the command line: a value to write into a configuration file.
struct ScanChoice: Equatable, Sendable {
  /// The reason why nothing can be chosen, in words.
  struct Refusal: Error, Equatable, CustomStringConvertible {
    var description: String
  }

  /// The key as given: `plants.sensors[0].i2c_address`.
  var key: String
  /// The value as given, or `nil` to take what the scan finds for the key.
  var value: String?

  /// Reads `KEY` or `KEY=VALUE`, where KEY is one that a scan can fill.
  init(_ argument: String) throws(Refusal) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    key = parts[0]
    value = parts.count > 1 ? parts[1] : nil
    let known = Set(Scan.fillable.map(\.key.path)).sorted()
    let isKnown = known.contains(ConfigTable.generic(key))
    guard !isKnown || !key.contains("[]") else {
      throw Refusal(description: "expected the number of an item, as \(key.replacing("[]", with: "[0]")), got \(key)")
    }
    guard isKnown, ConfigEdit.steps(key) != nil else {
      throw Refusal(description: "expected a key that a scan can fill (\(known.joined(separator: ", "))), got \(key)")
    }
    guard let value, let kind = ConfigTable.key(key)?.kind else { return }
    guard ScalarReader.value(value, as: kind) != nil else {
      throw Refusal(description: "\(key): expected \(kind.expectation(insteadOf: value)), got \(value)")
    }
  }

  /// The kinds of a scan that can find something for the key.
  var kinds: Set<ScanKind> {
    let finds = Scan.fillable.filter { $0.key.path == ConfigTable.generic(key) }.map(\.by)
    return Set(finds.map(\.kind))
  }

  /// Returns the finds that can fill the key, each with the settings that it would write. A find that is in use is left
  /// out.
  func candidates(in finds: [ScanFind]) -> [(find: ScanFind, settings: ScanFind.Settings)] {
    finds.filter { $0.trouble == nil }.compactMap { find in
      let settings = find.settings.first { $0.first?.key == ConfigTable.generic(key) }
      return settings.map { (find, $0.map { named($0) }) }
    }
  }

  /// Returns a setting with the number of the chosen item in its key.
  private func named(_ setting: ScanFind.Setting) -> ScanFind.Setting {
    guard setting.key.contains("[]"), let open = key.firstIndex(of: "["), let end = key.firstIndex(of: "]") else {
      return setting
    }
    return ScanFind.Setting(key: setting.key.replacing("[]", with: key[open...end]), value: setting.value)
  }

  /// Returns the text of a file with the settings written. A related key is not written if the file or its default
  /// already gives the same value.
  static func apply(
    _ settings: ScanFind.Settings, to text: String, file: String, environment: [String: String]
  ) throws -> String {
    var text = text
    let given = ConfigReader.examine(try YAMLFile(text: text, name: file), environment: environment).0.values
    for (index, setting) in settings.enumerated() {
      if index > 0, let key = ConfigTable.key(setting.key),
        let wanted = ScalarReader.value(setting.value, as: key.kind), given[setting.key] ?? key.standard == wanted
      {
        continue
      }
      text = try ConfigEdit.setting(setting.key, to: setting.value, in: text)
    }
    return text
  }
}

extension Findable {
  /// The kind of scan that finds such a device.
  var kind: ScanKind {
    switch self {
    case .serialLine: .serial
    case .i2cChip: .i2c
    case .bluetooth: .ble
    case .kernelSensor, .kernelAxes: .sensor
    case .camera: .camera
    case .announced: .mdns
    }
  }
}
