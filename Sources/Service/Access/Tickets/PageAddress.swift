/// The rule for an address of the page that a client gives, to which something is appended: a ticket, or the view of a plant.
public enum PageAddress {
  /// Returns the rule in words.
  ///
  /// - Parameter greatestLength: the greatest length in bytes.
  public static func rule(atMost greatestLength: Int) -> String {
    "an http or https address of at most \(greatestLength) characters that ends in /"
  }

  /// Returns whether the text is an address that can stand in a QR code and in a document as it is: printable ASCII without quotation marks, brackets
  /// and what begins a query or a fragment.
  public static func isOne(_ text: String, atMost greatestLength: Int) -> Bool {
    let scheme = ["http://", "https://"].first { text.hasPrefix($0) }
    guard let scheme, text.utf8.count <= greatestLength else { return false }
    let rest = text.utf8.dropFirst(scheme.utf8.count)
    return rest.count > 1 && rest.last == UInt8(ascii: "/")
      && rest.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"#?@\"<>\\^`{|}&'".utf8.contains($0) }
  }
}
