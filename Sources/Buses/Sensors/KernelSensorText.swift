/// Parsers for the files of the kernel's sensors. Every text has a defined result; none traps.
public enum KernelSensorText {
  /// The longest text that is read, in bytes.
  package static let longest = 256

  /// Returns the number in a file of sysfs, such as `23125`, `-0.5` or `0.000598205`, or `nil` if the text is anything
  /// else, longer than 40 bytes, or has more after the number than white space.
  public static func number(_ bytes: some Collection<UInt8>) -> Double? {
    var text = bytes[...]
    while let last = text.suffix(1).first, last == 0x0A || last == 0x20 { text = text.dropLast() }
    guard (1...40).contains(text.count) else { return nil }
    let isNegative = text.first == UInt8(ascii: "-")
    if isNegative { text = text.dropFirst() }
    let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }) else {
      return nil
    }
    // Only digits and one point are left, at most 40 of them: the value is finite.
    return Double(String(decoding: text, as: UTF8.self)).map { isNegative ? -$0 : $0 }
  }

  /// The content of a 1-Wire thermometer's `w1_slave`.
  public enum OneWire: Equatable, Sendable {
    /// The checksum is right, and this is the temperature in thousandths of a degree Celsius.
    case thousandths(Double)
    /// The chip's answer had a wrong checksum.
    case badChecksum
    /// The text has another form.
    case unintelligible
  }

  /// Reads `w1_slave`, two lines of which the first ends in `YES` if the checksum is right and the second in `t=23125`.
  public static func oneWire(_ bytes: some Collection<UInt8>) -> OneWire {
    guard bytes.count <= longest else { return .unintelligible }
    let lines = bytes.split(separator: 0x0A)
    guard lines.count == 2 else { return .unintelligible }
    let (first, second) = (String(decoding: lines[0], as: UTF8.self), String(decoding: lines[1], as: UTF8.self))
    guard first.contains(" crc=") else { return .unintelligible }
    if first.hasSuffix(" NO") { return .badChecksum }
    guard first.hasSuffix(" YES"), let word = second.split(separator: " ").last, word.hasPrefix("t="),
      let value = number(word.dropFirst(2).utf8)
    else { return .unintelligible }
    return .thousandths(value)
  }
}
