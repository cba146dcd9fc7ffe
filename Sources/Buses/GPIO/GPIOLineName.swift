/// The identification of a line, by the line's name or by a chip and an offset on it.
///
/// A name is the better choice on a Raspberry Pi: `GPIO17` is pin 11 on every model, while its chip's number and label
/// differ between them.
public struct GPIOLineName: Sendable, Hashable {
  /// The two ways to identify a line.
  public enum Place: Sendable, Hashable {
    /// The line's name in the device tree.
    case name(String)
    /// The line's offset, from 0, on a chip, which is given by number (`gpiochip0`), path (`/dev/gpiochip0`) or label (`pinctrl-rp1`).
    case offset(Int, chip: String)
  }
  /// The name or the place of the line.
  public let place: Place

  /// Creates a name that is known to be well-formed. `init?(_ text:)` checks one that a person has typed.
  public init(_ place: Place) { self.place = place }

  /// Returns the name of a Raspberry Pi's line by its BCM number, 0…53, such as `GPIO17`.
  public static func bcm(_ number: Int) -> GPIOLineName {
    precondition((0...53).contains(number), "a Raspberry Pi has GPIO 0…53")
    return GPIOLineName(.name("GPIO\(number)"))
  }

  /// Parses `GPIO17` or any other line's name, `17` (the same as `GPIO17`), or `CHIP:17`. The result is `nil` for a text that is
  /// empty, longer than the kernel's 31 bytes, contains a space or a comma, begins with a sign, or has a number out of range.
  public init?(_ text: String) {
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ",") }) else { return nil }
    if let colon = text.lastIndex(of: ":") {
      let chip = text[..<colon]
      guard let offset = Self.number(text[text.index(after: colon)...], below: 1_024), !chip.isEmpty,
        chip.utf8.count <= 255
      else { return nil }
      place = .offset(offset, chip: String(chip))
    } else if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
      guard let number = Self.number(text[...], below: 54) else { return nil }
      self = .bcm(number)
    } else {
      guard text.utf8.count <= 31, text.first != "+", text.first != "-" else { return nil }
      place = .name(text)
    }
  }

  private static func number(_ text: Substring, below end: Int) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let number = Int(text), number < end
    else { return nil }
    return number
  }
}

extension GPIOLineName: CustomStringConvertible {
  /// The name as text, in the form that `init(_:)` parses.
  public var description: String {
    switch place {
    case .name(let name): name
    case .offset(let offset, let chip): "\(chip):\(offset)"
    }
  }
}

/// A line as a program requests it.
public struct GPIOLine: Sendable, Hashable {
  /// The identification of the line.
  public var name: GPIOLineName
  /// Whether the line is active at the low level, as for a relay board that pulls in when its input is grounded, or an inverted output-enable.
  public var isActiveLow: Bool

  /// Creates a line that is active at the high level unless `isActiveLow` is set.
  public init(_ name: GPIOLineName, isActiveLow: Bool = false) {
    self.name = name
    self.isActiveLow = isActiveLow
  }
}
