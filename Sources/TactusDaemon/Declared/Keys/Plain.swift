import Buses
@_spi(FromOutside) import Conversions

/// The external form of the values of a type.
public struct PlainForm: Sendable, Equatable {
  /// The kind of the values; for numbers with the widest range, since a key or a parameter states its own.
  let kind: ConfigKind
  /// Whether the value may be unknown or need not be given.
  var mayBeNothing = false
}

/// A type whose values have an external form: numbers, `Bool`, `String`, words, names of lines, and optionals of these
/// types.
public protocol Plain: Sendable {
  /// The external form of the type's values.
  static var form: PlainForm { get }
  /// Creates the value from its external form, which is `nil` if it is unknown or not given. Returns `nil` if that is of another kind or out of
  /// range.
  init?(_ plain: ConfigValue?)
  /// The external form of this value, or `nil` if the value is unknown.
  var plain: ConfigValue? { get }
}

/// A number whose range is stated by the key or the parameter that has this type.
public protocol PlainNumber: Plain, Comparable {}

/// A value that is not a number. The type alone defines the allowed values.
public protocol PlainChoice: Plain {}

/// An enumeration that is a word in external form: a choice in the file, an `enum` in schemas, and one sample for each
/// word in metrics.
///
/// ```swift
/// enum Mode: String, Word { case off, running }
/// ```
public protocol Word: PlainChoice, CaseIterable, RawRepresentable, BitwiseCopyable where RawValue == String {}

extension Word {
  public static var form: PlainForm { PlainForm(kind: .choice(allCases.map(\.rawValue))) }
  public init?(_ plain: ConfigValue?) {
    guard case .text(let text)? = plain else { return nil }
    self.init(rawValue: text)
  }
  public var plain: ConfigValue? { .text(rawValue) }
}

/// The range of a key or a parameter keeps its values within a narrower integer type.
extension PlainNumber where Self: FixedWidthInteger {
  /// The external form of an integer.
  public static var form: PlainForm { PlainForm(kind: .integer(Int.min...Int.max)) }
  public init?(_ plain: ConfigValue?) {
    guard case .integer(let value)? = plain, let own = Self(exactly: value) else { return nil }
    self = own
  }
  public var plain: ConfigValue? { .integer(Int(clamping: self)) }
}

extension Int: PlainNumber {}
extension Int64: PlainNumber {}
extension UInt8: PlainNumber {}
extension UInt16: PlainNumber {}
extension UInt32: PlainNumber {}
/// Values above `Int.max` appear as `Int.max` in external form.
extension UInt64: PlainNumber {}
extension Int32: PlainNumber {}

extension Double: PlainNumber {
  public static var form: PlainForm {
    PlainForm(kind: .number(-Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude))
  }
  public init?(_ plain: ConfigValue?) {
    switch plain {
    case .number(let value)?: self = value
    case .integer(let value)?: self = Double(value)
    default: return nil
    }
  }
  /// The number in external form; a number that is not finite is unknown.
  public var plain: ConfigValue? { isFinite ? .number(self) : nil }
}

extension Bool: PlainChoice {
  public static var form: PlainForm { PlainForm(kind: .boolean) }
  public init?(_ plain: ConfigValue?) {
    guard case .boolean(let value)? = plain else { return nil }
    self = value
  }
  public var plain: ConfigValue? { .boolean(self) }
}

extension String: PlainChoice {
  public static var form: PlainForm { PlainForm(kind: .text) }
  public init?(_ plain: ConfigValue?) {
    guard case .text(let value)? = plain else { return nil }
    self = value
  }
  public var plain: ConfigValue? { .text(self) }
}

extension GPIOLineName: PlainChoice {
  public static var form: PlainForm { PlainForm(kind: .line) }
  public init?(_ plain: ConfigValue?) {
    guard case .text(let text)? = plain else { return nil }
    self.init(text)
  }
  public var plain: ConfigValue? { .text("\(self)") }
}

extension Optional: Plain where Wrapped: Plain {
  public static var form: PlainForm {
    var form = Wrapped.form
    form.mayBeNothing = true
    return form
  }
  public init?(_ plain: ConfigValue?) {
    if plain == nil {
      self = nil
    } else {
      guard let value = Wrapped(plain) else { return nil }
      self = value
    }
  }
  public var plain: ConfigValue? { self?.plain }
}

/// One output of a PWM unit of the kernel, named by its folder: `/sys/class/pwm/pwmchip0/pwm1`.
public struct PWMOutputName: PlainChoice, Hashable, CustomStringConvertible {
  /// The folder of the PWM unit, such as `/sys/class/pwm/pwmchip0`.
  public let chip: String
  /// The channel of the output within the unit, from 0.
  public let channel: Int

  /// Creates the name of an output.
  ///
  /// - Parameters:
  ///   - chip: the folder of the PWM unit, such as `/sys/class/pwm/pwmchip0`.
  ///   - channel: the channel within the unit, from 0.
  public init(chip: String, channel: Int) { (self.chip, self.channel) = (chip, channel) }

  /// Creates the name from the path of the output's folder, or returns `nil` if the text is not an absolute path that
  /// ends in `/pwm` and a number 0…255.
  public init?(_ text: String) {
    guard text.hasPrefix("/"), let slash = text.lastIndex(of: "/"), slash > text.startIndex,
      text[slash...].hasPrefix("/pwm"), let channel = UInt8(text[slash...].dropFirst(4))
    else { return nil }
    self.init(chip: String(text[..<slash]), channel: Int(channel))
  }

  public static var form: PlainForm { PlainForm(kind: .pwmOutput) }
  public init?(_ plain: ConfigValue?) {
    guard case .text(let text)? = plain else { return nil }
    self.init(text)
  }
  public var plain: ConfigValue? { .text(description) }
  public var description: String { "\(chip)/pwm\(channel)" }
}

extension ChipAxis: Word {}

extension KernelSensorName: PlainChoice {
  public static var form: PlainForm { PlainForm(kind: .sensor) }
  public init?(_ plain: ConfigValue?) {
    guard case .text(let text)? = plain else { return nil }
    self.init(text)
  }
  public var plain: ConfigValue? { .text(description) }
}
