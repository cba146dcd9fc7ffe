/// What a number counts.
///
/// Names outside the program end in the unit's word where it has one (`temperatureCelsius`, `dutyPercent`): a metric's name then ends in
/// Prometheus' base unit, and the page shows the sign.
public struct Unit: Sendable, Hashable {
  /// `°C`
  public let sign: String
  /// How a camel-case name ends that says this unit: `Celsius`.
  let ending: String
  /// How the metric's name ends instead, and what its value is in that unit: `ratio`, 0.01.
  let metricEnding: String
  let metricFactor: Double
  /// Home Assistant's `device_class`.
  let deviceClass: String?

  private init(
    _ sign: String, ending: String = "", metric: String = "", factor: Double = 1, deviceClass: String? = nil
  ) {
    (self.sign, self.ending, metricEnding, metricFactor) = (sign, ending, metric, factor)
    self.deviceClass = deviceClass
  }

  /// Another unit, by its sign: `%/°C`.
  public init(_ sign: String) { self.init(sign, ending: "") }

  /// A count, a ratio 0…1, a word.
  public static let none = Unit("")
  /// Of a hundred; a metric of it is a ratio.
  public static let percent = Unit("%", ending: "Percent", metric: "ratio", factor: 0.01)
  /// Degrees Celsius.
  public static let celsius = Unit("°C", ending: "Celsius", metric: "celsius", deviceClass: "temperature")
  /// Turns a minute.
  public static let rpm = Unit("rpm", ending: "Rpm", metric: "rpm")
  /// Times a second.
  public static let hertz = Unit("Hz", ending: "Hertz", metric: "hertz", deviceClass: "frequency")
  /// Seconds.
  public static let seconds = Unit("s", ending: "Seconds", metric: "seconds", deviceClass: "duration")
  /// Minutes; a metric of them is in seconds.
  public static let minutes = Unit("min", ending: "Minutes", metric: "seconds", factor: 60, deviceClass: "duration")
  /// Hours; a metric of them is in seconds.
  public static let hours = Unit("h", ending: "Hours", metric: "seconds", factor: 3_600, deviceClass: "duration")
  /// Milliseconds; a metric of them is in seconds.
  public static let milliseconds = Unit("ms", ending: "Ms", metric: "seconds", factor: 0.001, deviceClass: "duration")
  /// Microseconds; a metric of them is in seconds.
  public static let microseconds = Unit("µs", ending: "Us", metric: "seconds", factor: 1e-6, deviceClass: "duration")
  /// Volts.
  public static let volts = Unit("V", ending: "Volts", metric: "volts", deviceClass: "voltage")
  /// Amperes.
  public static let amperes = Unit("A", ending: "Amperes", metric: "amperes", deviceClass: "current")
  /// Watts.
  public static let watts = Unit("W", ending: "Watts", metric: "watts", deviceClass: "power")
  /// Metres.
  public static let metres = Unit("m", ending: "Metres", metric: "meters", deviceClass: "distance")
  /// Degrees of an angle.
  public static let degrees = Unit("°", ending: "Degrees", metric: "degrees")
  /// Litres a minute.
  public static let litresPerMinute = Unit("L/min", ending: "LitresPerMinute", metric: "liters_per_minute")
}

extension Unit {
  /// A value in the unit of its metric: 57 % are 0.57, which 57 × 0.01 is not.
  func inMetric(_ value: Double) -> Double {
    metricFactor < 1 ? value / (1 / metricFactor).rounded() : value * metricFactor
  }

  /// `tactus_fan_duty_ratio` of `dutyPercent`; a counter's without its `_total`.
  ///
  /// - Parameter groups: names of the objects that it is in, which stand before it.
  func metricName(_ system: String, _ name: String, in groups: [String] = []) -> String {
    let stem = !ending.isEmpty && name.hasSuffix(ending) ? String(name.dropLast(ending.count)) : name
    let words = groups.flatMap { Self.words($0) } + Self.words(stem) + (metricEnding.isEmpty ? [] : [metricEnding])
    return (["tactus", system.replacing("-", with: "_")] + words).joined(separator: "_")
  }

  /// `Temperature` of `temperatureCelsius`.
  func title(_ name: String) -> String {
    let stem = !ending.isEmpty && name.hasSuffix(ending) && name != ending ? String(name.dropLast(ending.count)) : name
    let text = Self.words(stem).joined(separator: " ")
    return text.prefix(1).uppercased() + text.dropFirst()
  }

  /// `target celsius`: the words of a camel-case name, in lower case.
  static func words(_ name: String) -> [String] {
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
