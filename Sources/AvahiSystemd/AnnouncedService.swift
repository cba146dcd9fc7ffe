@_spi(FromOutside) import Conversions

/// A service that is announced on the local network.
public struct AnnouncedService: Sendable, Hashable {
  /// The name of the service for people, such as `Tactus on kitchen`. At most 63 bytes; longer names are cut.
  public var name: String
  /// The type of the service, such as `_tactus._tcp`.
  public var type: String
  /// The TCP or UDP port of the service, depending on the end of `type`.
  public var port: UInt16
  /// The strings of the TXT record in the form `key=value`, at most 255 bytes each.
  public var text: [String]

  /// Creates a service. A `name` that is too long is cut at a character; an entry of `text` that is too long traps.
  public init(name: String, type: String, port: UInt16, text: [String] = []) {
    precondition(text.allSatisfy { $0.utf8.count <= 255 }, "a TXT string has at most 255 bytes")
    self.name = Self.cut(name, to: 63)
    self.type = type
    self.port = port
    self.text = text
  }

  /// Returns the same service under another name, because the name is taken: `Tactus on kitchen #2`, then `#3`.
  func renamed() -> AnnouncedService {
    var base = name[...]
    var number = 2
    if let mark = name.lastIndex(of: "#"), let last = Int(name[name.index(after: mark)...]), last >= 2,
      last < 1_000_000,
      name[..<mark].hasSuffix(" ")
    {
      base = name[..<mark].dropLast()
      number = last + 1
    }
    let ending = " #\(number)"
    var service = self
    service.name = Self.cut(String(base), to: 63 - ending.utf8.count) + ending
    return service
  }

  /// Returns at most `limit` bytes of a text, cut between characters.
  private static func cut(_ text: String, to limit: Int) -> String {
    var text = text
    while text.utf8.count > limit { text.removeLast() }
    return text
  }
}
