/// A user name or a password, with the rules of MQTT and of the files of a mosquitto that this program starts.
///
/// MQTT allows no control character in a user's name (3.1.1, section 1.5.3). libmosquitto takes texts that end with a NUL. mosquitto's password file has
/// `user:password` on a line. The program that hashes it removes blanks at both ends of each; a line that begins with `#` is a comment.
public enum BrokerText {
  /// The kind of the text.
  public enum Part: Sendable {
    /// The name of a user.
    case user
    /// The password of a user.
    case password
  }

  /// The greatest length in bytes that MQTT allows.
  static let mostBytes = 65_535

  /// Returns a description of the fault in a text, with the character and its place but never the text, or `nil` if MQTT can carry the text.
  ///
  /// - Parameter isSpawned: whether the broker is one that this program starts, whose password file has to carry the text as well.
  public static func flaw(in text: String, _ part: Part, isSpawned: Bool) -> String? {
    let scalars = Array(text.unicodeScalars)
    guard text.utf8.count <= mostBytes else {
      return "expected at most \(mostBytes) bytes, as MQTT has them, got \(text.utf8.count)"
    }
    for (index, scalar) in scalars.enumerated() where !isInMQTT(scalar, part) {
      let expected =
        part == .user ? "no control character, which MQTT does not allow in it" : "no NUL, which ends a text"
      return "expected \(expected), got \(name(scalar)) as character \(index + 1)"
    }
    guard isSpawned else { return nil }
    let file = "which mosquitto's password file does not carry while mqtt.broker is spawn"
    for (index, scalar) in scalars.enumerated() where [":", "\n", "\r"].contains(scalar) {
      return "expected no colon and no line break, \(file), got \(name(scalar)) as character \(index + 1)"
    }
    if let first = scalars.first, isBlank(first) {
      return "expected no blank at its beginning, \(file), got \(name(first)) as character 1"
    }
    if let last = scalars.last, isBlank(last) {
      return "expected no blank at its end, \(file), got \(name(last)) as character \(scalars.count)"
    }
    if part == .user, scalars.first == "#" {
      return "expected another beginning than '#', \(file), got \(name("#")) as character 1"
    }
    return scalars.isEmpty ? "expected a text, \(file) without one, got none" : nil
  }

  private static func isInMQTT(_ scalar: Unicode.Scalar, _ part: Part) -> Bool {
    switch part {
    case .user: scalar.value > 0x1F && !(0x7F...0x9F).contains(scalar.value)
    case .password: scalar.value != 0
    }
  }

  /// Returns whether C's isspace(3) holds for a character.
  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || (9...13).contains(scalar.value) }

  /// Returns the name of a character, such as `U+0020 (a blank)`. Only one character of a secret is named, which
  /// reveals nothing useful.
  private static func name(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    let code = "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    let words: [Unicode.Scalar: String] = [
      " ": "a blank", "\t": "a tab", "\n": "a line break", "\r": "a carriage return", "\0": "NUL", ":": "a colon",
    ]
    return words[scalar].map { "\(code) (\($0))" } ?? code
  }
}
