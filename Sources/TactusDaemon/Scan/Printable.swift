/// Text of strangers (a name on the air, of a USB device, on the network) as it may reach a terminal and a log.
enum Printable {
  /// Returns the text without control and formatting characters, at most 80 characters of it.
  static func text(_ text: String) -> String {
    let kept = text.unicodeScalars.filter { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
      default: true
      }
    }
    return String(String(String.UnicodeScalarView(kept)).prefix(80))
  }
}
