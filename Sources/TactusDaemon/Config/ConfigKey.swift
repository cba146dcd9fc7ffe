/// What a configuration value may be.
package enum ConfigKind: Equatable {
  case integer(ClosedRange<Int>)
  case number(ClosedRange<Double>)
  case boolean
  case text
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
  /// Only `true`: the key exists in older files and what it says cannot be switched off.
  case alwaysTrue
}

/// One value as read, already of its key's kind.
package enum ConfigValue: Equatable {
  case integer(Int)
  case number(Double)
  case boolean(Bool)
  case text(String)
  case integers([Int])
  case texts([String])
}

/// One key of the configuration file: what the reader accepts and what the reference prints.
package struct ConfigKey {
  /// `section.key` or `section.part.key`.
  package let path: String
  let kind: ConfigKind
  /// nil: nothing unless given.
  package let standard: ConfigValue?
  /// One or two sentences for the reference; states the unit.
  let doc: String
  /// Whether `reload` may give it another value while the program runs. Whoever says so takes it in `DaemonSystem.change`.
  let mayChange: Bool

  package init(
    _ path: String, _ kind: ConfigKind, _ standard: ConfigValue?, _ doc: String, mayChange: Bool = false
  ) {
    self.path = path
    self.kind = kind
    self.standard = standard
    self.doc = doc + (mayChange ? " `\(DaemonProgram.current.name) reload` may change it." : "")
    self.mayChange = mayChange
  }
}

extension ConfigKind: CustomStringConvertible {
  /// What an error says was expected: `an integer 1…65535`.
  package var description: String {
    switch self {
    case .integer(let range): "an integer \(range.lowerBound)…\(range.upperBound)"
    case .number(let range): "a number \(plain(range.lowerBound))…\(plain(range.upperBound))"
    case .boolean: "true or false"
    case .text: "text"
    case .choice(let words): words.count == 1 ? words[0] : "one of " + words.joined(separator: ", ")
    case .address: "an IPv4 or IPv6 address"
    case .pwmOutput: "a PWM output: /sys/class/pwm/pwmchip0/pwm0"
    case .line: "a GPIO line: GPIO17, 17, its name, or CHIP:17"
    case .cpus: "CPUs 0…1023: 3, or 0-1,3"
    case .integers(let count, let range): "a list of \(count) integers \(range.lowerBound)…\(range.upperBound)"
    case .integerList(let range, let most):
      "a list of at most \(most) integers \(range.lowerBound)…\(range.upperBound)"
    case .texts: "a list of texts"
    case .alwaysTrue: "true (it cannot be switched off)"
    }
  }

  private func plain(_ number: Double) -> String {
    number == number.rounded() ? String(Int(number)) : String(number)
  }
}

extension ConfigValue: CustomStringConvertible {
  /// As it is written in YAML.
  package var description: String {
    switch self {
    case .integer(let value): String(value)
    case .number(let value): value == value.rounded() && abs(value) < 1e15 ? "\(Int(value)).0" : String(value)
    case .boolean(let value): String(value)
    case .text(let value): Self.quoted(value)
    case .integers(let values): "[\(values.map(String.init).joined(separator: ", "))]"
    case .texts(let values): "[\(values.map(Self.quoted).joined(separator: ", "))]"
    }
  }

  private static func quoted(_ text: String) -> String {
    text.isEmpty || text.contains(where: { ": #'\"{}[],&*!|>%@`".contains($0) }) ? "'\(text)'" : text
  }
}
