import Buses
@_spi(FromOutside) import Conversions
import Glibc
import Tactus

/// Converts the text of a YAML scalar to a value of a given kind.
public enum ScalarReader {
  /// Returns the value, or `nil` if `text` is not of this kind or not in its range. A list is not a scalar, so the result for its kinds is `nil`.
  public static func value(_ text: String, as kind: ConfigKind) -> ConfigValue? {
    switch kind {
    case .integer(let range):
      integer(text).flatMap { range.contains($0) ? .integer($0) : nil }
    case .number(let range):
      number(text).flatMap { range.contains($0) ? .number($0) : nil }
    case .boolean:
      boolean(text).map(ConfigValue.boolean)
    case .alwaysTrue:
      boolean(text) == true ? .boolean(true) : nil
    case .text, .textOrNothing, .secret, .secretFile, .file, .folder:
      text.isEmpty ? nil : .text(text)
    case .choice(let words):
      words.first { $0.lowercased() == text.lowercased() }.map(ConfigValue.text)
    case .host:
      isHost(text) ? .text(text) : nil
    case .address:
      isAddress(text) ? .text(text) : nil
    case .line:
      GPIOLineName(text).map { _ in .text(text) }
    case .pwmOutput:
      PWMOutputName(text).map { _ in .text(text) }
    case .sensor:
      KernelSensorName(text).map { _ in .text(text) }
    case .logFormat:
      LogPattern(text).map { _ in .text(text) }
    case .cpus:
      CPUSet(text).map { _ in .text(text) }
    case .integers, .integerList, .texts, .mappings:
      nil
    }
  }

  /// Returns the integer in decimal, `0x…`, `0o…` or `0b…` notation, with optional `_` between digits, or `nil` if the text is not an integer.
  static func integer(_ text: String) -> Int? {
    var digits = Substring(text)
    let negative = digits.hasPrefix("-")
    if negative || digits.hasPrefix("+") { digits.removeFirst() }
    var radix = 10
    for (prefix, base) in [("0x", 16), ("0o", 8), ("0b", 2)] where digits.lowercased().hasPrefix(prefix) {
      digits.removeFirst(2)
      radix = base
    }
    guard let first = digits.first, first != "_", first != "-", first != "+", digits.last != "_" else { return nil }
    return Int((negative ? "-" : "") + digits.filter { $0 != "_" }, radix: radix)
  }

  static func number(_ text: String) -> Double? {
    if let whole = integer(text) { return Double(whole) }
    guard text.allSatisfy({ "0123456789+-.eE".contains($0) }), let value = Double(text), value.isFinite else {
      return nil
    }
    return value
  }

  static func boolean(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "true", "yes", "on": true
    case "false", "no", "off": false
    default: nil
    }
  }

  private static func isHost(_ text: String) -> Bool {
    (1...253).contains(text.utf8.count)
      && text.unicodeScalars.allSatisfy { scalar in
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "-", "_", ":": true
        default: false
        }
      }
  }

  /// Returns whether a text is a numeric IPv4 or IPv6 address.
  static func isAddress(_ text: String) -> Bool {
    var four = in_addr()
    var six = in6_addr()
    return inet_pton(AF_INET, text, &four) == 1 || inet_pton(AF_INET6, text, &six) == 1
  }
}
