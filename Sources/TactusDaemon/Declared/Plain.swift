import Buses

/// A value as it is outside the program: in the configuration file, in JSON, in a metric.
public enum PlainValue: Sendable, Hashable {
  /// Unknown, or not given.
  case nothing
  /// Yes or no.
  case boolean(Bool)
  /// A whole number.
  case integer(Int)
  /// A finite number.
  case number(Double)
  /// A text, a word, a name.
  case text(String)
}

/// What values of a type look like outside the program.
public struct PlainForm: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case boolean, integer, number, text
    case words([String])
    /// As `GPIOLineName` reads it.
    case line
    /// As `PWMOutputName` reads it.
    case pwmOutput
  }

  let kind: Kind
  /// Whether it may be unknown, or need not be given.
  var mayBeNothing = false
}

/// A type whose values have a form outside the program: numbers, `Bool`, `String`, words, names of lines, and optionals of them.
public protocol Plain: Sendable {
  /// What they look like.
  static var form: PlainForm { get }
  /// `nil` if it is of another kind.
  init?(_ plain: PlainValue)
  /// The value outside.
  var plain: PlainValue { get }
}

/// A number: a key or a parameter of its type says its range.
public protocol PlainNumber: Plain, Comparable {}

/// Anything but a number: its type says all that is allowed.
public protocol PlainChoice: Plain {}

/// An enumeration that is a word outside: a choice in the file, an `enum` in schemas, one sample a word in metrics.
///
///     enum Mode: String, Word { case off, running }
public protocol Word: PlainChoice, CaseIterable, RawRepresentable, BitwiseCopyable where RawValue == String {}

extension Word {
  public static var form: PlainForm { PlainForm(kind: .words(allCases.map(\.rawValue))) }
  public init?(_ plain: PlainValue) {
    guard case .text(let text) = plain else { return nil }
    self.init(rawValue: text)
  }
  public var plain: PlainValue { .text(rawValue) }
}

/// The range of a key or a parameter keeps values within a narrower type.
extension PlainNumber where Self: FixedWidthInteger {
  /// A whole number.
  public static var form: PlainForm { PlainForm(kind: .integer) }
  public init?(_ plain: PlainValue) {
    guard case .integer(let value) = plain, let own = Self(exactly: value) else { return nil }
    self = own
  }
  public var plain: PlainValue { .integer(Int(self)) }
}

extension Int: PlainNumber {}
extension Int64: PlainNumber {}
extension UInt8: PlainNumber {}
extension UInt16: PlainNumber {}
extension UInt32: PlainNumber {}

extension Double: PlainNumber {
  public static var form: PlainForm { PlainForm(kind: .number) }
  public init?(_ plain: PlainValue) {
    switch plain {
    case .number(let value): self = value
    case .integer(let value): self = Double(value)
    default: return nil
    }
  }
  /// What is not finite is unknown.
  public var plain: PlainValue { isFinite ? .number(self) : .nothing }
}

extension Bool: PlainChoice {
  public static var form: PlainForm { PlainForm(kind: .boolean) }
  public init?(_ plain: PlainValue) {
    guard case .boolean(let value) = plain else { return nil }
    self = value
  }
  public var plain: PlainValue { .boolean(self) }
}

extension String: PlainChoice {
  public static var form: PlainForm { PlainForm(kind: .text) }
  public init?(_ plain: PlainValue) {
    guard case .text(let value) = plain else { return nil }
    self = value
  }
  public var plain: PlainValue { .text(self) }
}

extension GPIOLineName: PlainChoice {
  public static var form: PlainForm { PlainForm(kind: .line) }
  public init?(_ plain: PlainValue) {
    guard case .text(let text) = plain else { return nil }
    self.init(text)
  }
  public var plain: PlainValue { .text("\(self)") }
}

extension Optional: Plain where Wrapped: Plain {
  public static var form: PlainForm {
    var form = Wrapped.form
    form.mayBeNothing = true
    return form
  }
  public init?(_ plain: PlainValue) {
    if case .nothing = plain {
      self = nil
    } else {
      guard let value = Wrapped(plain) else { return nil }
      self = value
    }
  }
  public var plain: PlainValue { self?.plain ?? .nothing }
}

/// One output of a PWM unit of the kernel, by its folder: `/sys/class/pwm/pwmchip0/pwm1`.
public struct PWMOutputName: PlainChoice, Hashable, CustomStringConvertible {
  /// `/sys/class/pwm/pwmchip0`
  public let chip: String
  /// From 0.
  public let channel: Int

  /// - Parameters:
  ///   - chip: `/sys/class/pwm/pwmchip0`
  ///   - channel: from 0.
  public init(chip: String, channel: Int) { (self.chip, self.channel) = (chip, channel) }

  /// `nil` if the text does not end in `/pwm` and a number 0…255.
  public init?(_ text: String) {
    guard text.hasPrefix("/"), let slash = text.lastIndex(of: "/"), slash > text.startIndex,
      text[slash...].hasPrefix("/pwm"), let channel = UInt8(text[slash...].dropFirst(4))
    else { return nil }
    self.init(chip: String(text[..<slash]), channel: Int(channel))
  }

  public static var form: PlainForm { PlainForm(kind: .pwmOutput) }
  public init?(_ plain: PlainValue) {
    guard case .text(let text) = plain else { return nil }
    self.init(text)
  }
  public var plain: PlainValue { .text(description) }
  public var description: String { "\(chip)/pwm\(channel)" }
}
