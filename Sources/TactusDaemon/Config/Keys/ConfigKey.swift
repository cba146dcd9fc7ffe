@_spi(FromOutside) import Conversions
import Service

/// The kind of a value in its external form, which determines the texts that the configuration file accepts.
public enum ConfigKind: Equatable, Sendable {
  /// A whole number in this range, written in decimal or with `0x`, `0o` or `0b`.
  case integer(ClosedRange<Int>)
  /// A number in this range, with or without decimals.
  case number(ClosedRange<Double>)
  /// `true`, `yes`, `on`, `false`, `no` or `off`, in any case.
  case boolean
  /// Any text that is not empty.
  case text
  /// Any text that is not empty, and that is shown to nobody: not in a log, a report, a backup or an answer.
  case secret
  /// The path of a file that holds a secret in its first line. The file is read when the program starts, before it is confined.
  case secretFile
  /// The path of a file that the program reads, also while it is confined.
  case file
  /// The path of a folder in which the program creates files, also while it is confined.
  case folder
  /// The name or numeric address of another machine, 1 to 253 letters, digits, `.`, `-`, `_` and `:`.
  case host
  /// Any text. An empty value (`null`, `~`) has the same effect as leaving the key out.
  case textOrNothing
  /// The pattern of a log line, as `LogPattern` reads it.
  case logFormat
  /// One of these words, in any case; the value is stored as written here.
  case choice([String])
  /// A numeric IPv4 or IPv6 address.
  case address
  /// A GPIO line, as `GPIOLineName` reads it.
  case line
  /// A PWM output, as `PWMOutputName` reads it.
  case pwmOutput
  /// A sensor of the kernel, as `KernelSensorName` reads it.
  case sensor
  /// A set of at least one CPU, as `CPUSet` reads it.
  case cpus
  /// A list of `count` integers.
  case integers(count: Int, ClosedRange<Int>)
  /// A list of at most `most` different integers.
  case integerList(ClosedRange<Int>, most: Int)
  /// A list of texts.
  case texts
  /// A list of at least one and at most `most` mappings. Each key of an item has its own entry in the table.
  case mappings(most: Int)
  /// The value `true` alone: the key exists in older files, and the feature that it names cannot be switched off.
  case alwaysTrue
}

/// A value in its external form, as in the configuration file, in JSON, in the store or in a metric. A value that has been read already has the kind
/// of its key.
public enum ConfigValue: Equatable, Sendable {
  /// A value of `ConfigKind.integer`.
  case integer(Int)
  /// A value of `ConfigKind.number`, which is finite.
  case number(Double)
  /// A value of `ConfigKind.boolean` or `.alwaysTrue`.
  case boolean(Bool)
  /// A value of any kind that is one text: `text`, `secret`, `secretFile`, `file`, `folder`, `host`, `textOrNothing`, `logFormat`, `choice`, `address`, `line`, `pwmOutput`, `sensor` or `cpus`.
  case text(String)
  /// A value of `ConfigKind.integers` or `.integerList`, in the order of the file.
  case integers([Int])
  /// A value of `ConfigKind.texts`, in the order of the file.
  case texts([String])
}

/// One key of the configuration file, from which both the reader and the reference are derived.
struct ConfigKey: Sendable {
  /// The path of the key: `section.key` or `section.part.key`.
  let path: String
  let kind: ConfigKind
  /// The default value, or `nil` if the key has no value unless the file gives one.
  let standard: ConfigValue?
  /// One or two sentences for the reference, with the unit.
  let doc: String
  /// Whether `reload` may change the value while the program runs. A system with such a key applies the new value in `DaemonSystem.change`.
  let mayChange: Bool
  /// The kinds of devices that `tactus scan` can find for the key; empty for most keys.
  var finds: [Findable] = []
  /// Whether a file that has the key's section or list item must give the key.
  var isRequired = false

  /// Makes a key for the table.
  ///
  /// - Parameters:
  ///   - path: `section.key` or `section.part.key`; for a key of a list's item `section[].key`.
  ///   - standard: the default, a value of `kind`, or `nil` if the key has none.
  ///   - doc: one or two sentences with the unit; a sentence about `reload` is added if `mayChange` is set.
  init(
    _ path: String, _ kind: ConfigKind, _ standard: ConfigValue?, _ doc: String, mayChange: Bool = false
  ) {
    self.path = path
    self.kind = kind
    self.standard = standard
    self.doc = doc + (mayChange ? " `\(DaemonProgram.current.name) reload` may change it." : "")
    self.mayChange = mayChange
  }
}

extension ConfigKind {
  /// Returns the expectation for an error message, with the word that may have been meant by `text` if one of the choices is similar.
  func expectation(insteadOf text: String?) -> String {
    // Numbers with a common digit are not similar words.
    guard case .choice(let words) = self, let text,
      let near = nearestName(to: text, among: words.filter { $0.contains(where: \.isLetter) })
    else { return description }
    return "\(self) (\(near)?)"
  }
}

extension ConfigKind: CustomStringConvertible {
  /// The expectation for an error message: `an integer 1…65535`.
  public var description: String {
    switch self {
    case .integer(let range): "an integer \(range.lowerBound)…\(range.upperBound)"
    case .number(let range): "a number \(plain(range.lowerBound))…\(plain(range.upperBound))"
    case .boolean: "true or false"
    case .text, .secret: "text"
    case .secretFile, .file: "the path of a file"
    case .folder: "the path of a folder"
    case .host: "the name or address of a machine"
    case .textOrNothing: "text, or null"
    case .logFormat: LogPattern.expectation
    case .choice(let words): words.count == 1 ? words[0] : "one of " + words.joined(separator: ", ")
    case .address: "an IPv4 or IPv6 address"
    case .pwmOutput: "a PWM output: /sys/class/pwm/pwmchip0/pwm0"
    case .sensor: "a sensor of the kernel: hwmon:lm75/temp1, iio:bme280/pressure or w1:28-0316a2795bff"
    case .line: "a GPIO line: GPIO17, 17, its name, or CHIP:17"
    case .cpus: "CPUs 0…1023: 3, or 0-1,3"
    case .integers(let count, let range): "a list of \(count) integers \(range.lowerBound)…\(range.upperBound)"
    case .integerList(let range, let most):
      "a list of at most \(most) integers \(range.lowerBound)…\(range.upperBound)"
    case .texts: "a list of texts"
    case .mappings(let most): "a list of 1…\(most) mappings"
    case .alwaysTrue: "true (it cannot be switched off)"
    }
  }

  private func plain(_ number: Double) -> String {
    number == number.rounded() ? String(Int(saturating: number)) : String(number)
  }
}

extension ConfigValue: CustomStringConvertible {
  /// The value as it is written in YAML.
  public var description: String {
    switch self {
    case .integer(let value): String(value)
    case .number(let value):
      value == value.rounded() && abs(value) < 1e15 ? "\(Int(saturating: value)).0" : String(value)
    case .boolean(let value): String(value)
    case .text(let value): Self.quoted(value)
    case .integers(let values): "[\(values.map(String.init).joined(separator: ", "))]"
    case .texts(let values): "[\(values.map(Self.quoted).joined(separator: ", "))]"
    }
  }

  /// Returns the text for YAML, in quotation marks if the bare text would be read as another value or as none.
  private static func quoted(_ text: String) -> String {
    let isMarked = text.contains { ": #'\"{}[],&*!|>%@`\\".contains($0) || $0.isNewline }
    guard text.isEmpty || text.lowercased() == "null" || text == "~" || isMarked else { return text }
    return "'" + text.replacing("'", with: "''") + "'"
  }
}
