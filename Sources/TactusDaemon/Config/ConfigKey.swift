import Service

/// What a configuration value may be.
public enum ConfigKind: Equatable, Sendable {
  /// A whole number in this range: decimal, or with `0x`, `0o` or `0b`.
  case integer(ClosedRange<Int>)
  /// A number in this range, with or without decimals.
  case number(ClosedRange<Double>)
  /// `true`, `yes`, `on`, `false`, `no` or `off`, in any case.
  case boolean
  /// Any text that is not empty.
  case text
  /// Any text; nothing (`null`, `~`) is as if the key were not there.
  case textOrNothing
  /// A line of the log, as `LogPattern` reads it.
  case logFormat
  /// One of these words, in any case; stored as written here.
  case choice([String])
  /// An IPv4 or IPv6 address in digits.
  case address
  /// A GPIO line, as `GPIOLineName` reads it.
  case line
  /// A PWM output, as `PWMOutputName` reads it.
  case pwmOutput
  /// A set of CPUs, as `CPUSet` reads it; one at least.
  case cpus
  /// A list of `count` integers.
  case integers(count: Int, ClosedRange<Int>)
  /// A list of at most so many different integers.
  case integerList(ClosedRange<Int>, most: Int)
  /// A list of texts.
  case texts
  /// A list of mappings, one at least and at most so many. Each key of an item has an entry of its own in the table.
  case mappings(most: Int)
  /// Only `true`: the key exists in older files and what it says cannot be switched off.
  case alwaysTrue
}

/// One value as read, already of its key's kind.
public enum ConfigValue: Equatable, Sendable {
  /// Of `ConfigKind.integer`.
  case integer(Int)
  /// Of `ConfigKind.number`; finite.
  case number(Double)
  /// Of `ConfigKind.boolean` and `.alwaysTrue`.
  case boolean(Bool)
  /// Of every kind that is one text: `text`, `textOrNothing`, `logFormat`, `choice`, `address`, `line`, `pwmOutput`, `cpus`.
  case text(String)
  /// Of `ConfigKind.integers` and `.integerList`, in the order of the file.
  case integers([Int])
  /// Of `ConfigKind.texts`, in the order of the file.
  case texts([String])
}

/// One key of the configuration file: what the reader accepts and what the reference prints.
public struct ConfigKey: Sendable {
  /// `section.key` or `section.part.key`.
  public let path: String
  let kind: ConfigKind
  /// The value if the file gives none; `nil` if the key then has no value.
  public let standard: ConfigValue?
  /// One or two sentences for the reference; states the unit.
  let doc: String
  /// Whether `reload` may give it another value while the program runs. A system that says so takes the value in `DaemonSystem.change`.
  let mayChange: Bool

  /// A key for the table.
  ///
  /// - Parameters:
  ///   - path: `section.key` or `section.part.key`; of a list's item `section[].key`.
  ///   - standard: the default, a value of `kind`; `nil` if the key has none.
  ///   - doc: one or two sentences with the unit; a sentence about `reload` is added if `mayChange` is set.
  public init(
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
  /// What an error says was expected in place of this text: with the word that may have been meant.
  func expectation(insteadOf text: String?) -> String {
    // Numbers are no more alike for a common digit.
    guard case .choice(let words) = self, let text,
      let near = nearestName(to: text, among: words.filter { $0.contains(where: \.isLetter) })
    else { return description }
    return "\(self) (\(near)?)"
  }
}

extension ConfigKind: CustomStringConvertible {
  /// What an error says was expected: `an integer 1…65535`.
  public var description: String {
    switch self {
    case .integer(let range): "an integer \(range.lowerBound)…\(range.upperBound)"
    case .number(let range): "a number \(plain(range.lowerBound))…\(plain(range.upperBound))"
    case .boolean: "true or false"
    case .text: "text"
    case .textOrNothing: "text, or null"
    case .logFormat: LogPattern.expectation
    case .choice(let words): words.count == 1 ? words[0] : "one of " + words.joined(separator: ", ")
    case .address: "an IPv4 or IPv6 address"
    case .pwmOutput: "a PWM output: /sys/class/pwm/pwmchip0/pwm0"
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
  /// As it is written in YAML.
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

  /// In quotation marks where the bare text would be read as another, or as nothing.
  private static func quoted(_ text: String) -> String {
    let isMarked = text.contains { ": #'\"{}[],&*!|>%@`\\".contains($0) || $0.isNewline }
    guard text.isEmpty || text.lowercased() == "null" || text == "~" || isMarked else { return text }
    return "'" + text.replacing("'", with: "''") + "'"
  }
}
