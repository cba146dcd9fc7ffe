import Glibc
import Service

/// The file of `tactus support`: a text in sections, which its owner can read before sending it.
struct SupportReport {
  /// The text in place of a value that may be a secret, as in the log.
  static let leftOut = LogScrubber.mark

  private var sections: [(title: String, text: String)] = []

  mutating func add(_ title: String, _ text: String) { sections.append((title, text)) }

  /// Adds the keys that a configuration file gives. Values from the environment and values whose key or text is a secret are left out. So is the part
  /// of an address after the host, which may contain such values.
  mutating func add(_ found: ConfigReader.Result, of file: String, secrets: [String]) {
    let lines = found.values.sorted { $0.key < $1.key }.map { key, value in
      "\(key): \(found.hidden.contains(key) ? Self.leftOut : Self.shown(value, of: key, secrets: secrets))"
    }
    add("configuration \(file)", lines.joined(separator: "\n"))
  }

  static func shown(_ value: ConfigValue, of key: String, secrets: [String]) -> String {
    if let known = ConfigTable.key(key) {
      if known.kind == .secret { return leftOut }
    } else if SecretNames.isSecret(key.utf8) {
      return leftOut
    }
    return switch value {
    case .integer, .number, .boolean, .integers: value.plainText
    case .text(let text): shown(text, secrets)
    case .texts(let texts): "[" + texts.map { shown($0, secrets) }.joined(separator: ", ") + "]"
    }
  }

  private static func shown(_ text: String, _ secrets: [String]) -> String {
    if secrets.contains(where: { !$0.isEmpty && text.contains($0) }) { return leftOut }
    guard let scheme = text.firstRange(of: "://") else { return text }
    let place = text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let host = place.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    let isWhole = host.endIndex == text.endIndex && host.count == place.count
    return String(text[..<scheme.upperBound]) + host + (isWhole ? "" : " " + leftOut)
  }

  /// Returns the whole text. Secrets are removed from it once more, wherever they are recognised.
  func text(secrets: [String]) -> String {
    let whole = sections.map { "==== \($0.title)\n\($0.text)\n" }.joined(separator: "\n")
    return LogScrubber(secrets: secrets).scrub(whole)
  }

  /// The kernel, the machine and the distribution, as far as the system says.
  static var machine: String {
    var name = utsname()
    uname(&name)
    func text<Characters>(_ characters: Characters) -> String {
      withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
    let system = YAMLFile.contents(of: "/etc/os-release", atMost: 10_000)?.split(separator: "\n")
      .first { $0.hasPrefix("PRETTY_NAME=") }.map { $0.dropFirst(12).filter { $0 != "\"" } }
    let model = YAMLFile.contents(of: "/proc/device-tree/model", atMost: 1000)?.filter { $0 != "\0" }
    return [
      "\(text(name.sysname)) \(text(name.release)) \(text(name.machine))", system, model,
      "\(sysconf(Int32(clamping: _SC_NPROCESSORS_ONLN))) processors",
    ].compactMap(\.self).joined(separator: "\n")
  }
}
