import Glibc
import Wire

/// The unit of a number: one of those below, or one of your own, such as `Unit("ml")`.
///
/// Names outside the program end in the word of the unit if it has one (`temperatureCelsius`, `dutyPercent`). The name
/// of the metric then ends in the base unit of Prometheus, and the page shows the sign.
public struct Unit: Sendable, Hashable {
  /// The sign of the unit, such as `°C`.
  public let sign: String
  /// The ending of camel-case names that states this unit, such as `Celsius`.
  let ending: String
  /// The ending that states the unit in the name of a metric, and the factor that converts a value into the metric's
  /// unit: `ratio` and 0.01 for percent.
  let metricEnding: String
  let metricFactor: Double
  /// The `device_class` of the unit in Home Assistant, or `nil` if Home Assistant has no class for it.
  let deviceClass: String?

  private init(
    _ sign: String, ending: String = "", metric: String = "", factor: Double = 1, deviceClass: String? = nil
  ) {
    (self.sign, self.ending, metricEnding, metricFactor) = (sign, ending, metric, factor)
    self.deviceClass = deviceClass
  }

  /// Creates a unit of your own from its sign, such as `ml` or `%/°C`. Documents, the page and Home Assistant show the
  /// sign as it is. The name of a metric is that of its field, unchanged: `tactus_doser_dose_ml` for `doseMl`.
  ///
  /// - Parameter sign: 1…16 visible characters. Any other sign ends the program with a message that names the place of
  ///   the declaration.
  public init(_ sign: String, file: StaticString = #fileID, line: UInt = #line) {
    if let flaw = Self.flaw(in: sign) {
      complain("\(file):\(line): \(flaw)")
      exit(1)
    }
    // A sign made of letters is a word in names, so `doseMl` has the title Dose.
    let isWord = sign.utf8.allSatisfy { ($0 | 0x20) >= UInt8(ascii: "a") && ($0 | 0x20) <= UInt8(ascii: "z") }
    self.init(sign, ending: isWord ? sign.prefix(1).uppercased() + sign.dropFirst().lowercased() : "")
  }

  /// Returns a description of the fault in the sign of a unit, with the remedy, or `nil` if the sign can be used.
  static func flaw(in sign: String) -> String? {
    let length = 1...16
    let isPadded = sign.first?.isWhitespace == true || sign.last?.isWhitespace == true
    guard let flaw = GivenName.flaw(in: sign, length) ?? (isPadded ? "a space at its end" : nil) else { return nil }
    return "a unit's sign is expected to be \(GivenName.rule(length)), such as Unit(\"ml\"), got \(flaw); a number "
      + "without a unit leaves `unit:` out"
  }

  /// No unit: a count, a ratio 0…1 or a word.
  public static let none = Unit("", ending: "")
  /// The unit percent. Its metric is a ratio.
  public static let percent = Unit("%", ending: "Percent", metric: "ratio", factor: 0.01)
  /// The unit degree Celsius.
  public static let celsius = Unit("°C", ending: "Celsius", metric: "celsius", deviceClass: "temperature")
  /// The unit revolution per minute.
  public static let rpm = Unit("rpm", ending: "Rpm", metric: "rpm")
  /// The unit hertz.
  public static let hertz = Unit("Hz", ending: "Hertz", metric: "hertz", deviceClass: "frequency")
  /// The unit second.
  public static let seconds = Unit("s", ending: "Seconds", metric: "seconds", deviceClass: "duration")
  /// The unit minute. Its metric is in seconds.
  public static let minutes = Unit("min", ending: "Minutes", metric: "seconds", factor: 60, deviceClass: "duration")
  /// The unit hour. Its metric is in seconds.
  public static let hours = Unit("h", ending: "Hours", metric: "seconds", factor: 3_600, deviceClass: "duration")
  /// The unit millisecond. Its metric is in seconds.
  public static let milliseconds = Unit("ms", ending: "Ms", metric: "seconds", factor: 0.001, deviceClass: "duration")
  /// The unit microsecond. Its metric is in seconds.
  public static let microseconds = Unit("µs", ending: "Us", metric: "seconds", factor: 1e-6, deviceClass: "duration")
  /// The unit volt.
  public static let volts = Unit("V", ending: "Volts", metric: "volts", deviceClass: "voltage")
  /// The unit ampere.
  public static let amperes = Unit("A", ending: "Amperes", metric: "amperes", deviceClass: "current")
  /// The unit watt.
  public static let watts = Unit("W", ending: "Watts", metric: "watts", deviceClass: "power")
  /// The unit metre.
  public static let metres = Unit("m", ending: "Metres", metric: "meters", deviceClass: "distance")
  /// The unit millimetre. Its metric is in metres.
  public static let millimetres = Unit("mm", ending: "Mm", metric: "meters", factor: 0.001, deviceClass: "distance")
  /// The unit degree of an angle.
  public static let degrees = Unit("°", ending: "Degrees", metric: "degrees")
  /// The unit litre per minute.
  public static let litresPerMinute = Unit("L/min", ending: "LitresPerMinute", metric: "liters_per_minute")
}

extension Unit {
  /// Returns a value in the unit of its metric. It divides by whole factors, because 57 × 0.01 is not exactly 0.57.
  func inMetric(_ value: Double) -> Double {
    metricFactor < 1 ? value / (1 / metricFactor).rounded() : value * metricFactor
  }

  /// Returns the name of a metric, such as `tactus_fan_duty_ratio` for `dutyPercent`; the name of a counter lacks its
  /// `_total`.
  ///
  /// - Parameter groups: the names of the objects that contain the field, which precede its name.
  func metricName(_ system: String, _ name: String, in groups: [String] = []) -> String {
    let isReplaced = !metricEnding.isEmpty && name.hasSuffix(ending)
    let stem = isReplaced ? String(name.dropLast(ending.count)) : name
    let words = (groups + [stem]).flatMap { Self.wordList(of: $0) } + (metricEnding.isEmpty ? [] : [metricEnding])
    return (["tactus", system.replacing("-", with: "_")] + words).joined(separator: "_")
  }

  /// Returns a title for a field, such as `Temperature` for `temperatureCelsius`.
  func title(_ name: String) -> String {
    let stem = !ending.isEmpty && name.hasSuffix(ending) && name != ending ? String(name.dropLast(ending.count)) : name
    let text = Self.wordList(of: stem).joined(separator: " ")
    return text.prefix(1).uppercased() + text.dropFirst()
  }

  /// Returns the words of a camel-case name in lower case, such as `target celsius`.
  static func wordList(of name: String) -> [String] {
    var words: [String] = []
    for character in name {
      if words.isEmpty || character.isUppercase {
        words.append(character.lowercased())
      } else {
        words[words.count - 1].append(character)
      }
    }
    return words
  }
}
