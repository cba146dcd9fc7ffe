/// One service as the local network shall see it.
public struct AnnouncedService: Sendable, Hashable {
  /// What people choose from: `Tactus on kitchen`. At most 63 bytes; longer ones are cut.
  public var name: String
  /// `_tactus._tcp`
  public var type: String
  /// TCP or UDP port of the service, as the end of `type` says.
  public var port: UInt16
  /// The TXT record: `key=value`, at most 255 bytes each.
  public var text: [String]

  /// A `name` that is too long is cut at a character; an entry of `text` that is too long traps.
  public init(name: String, type: String, port: UInt16, text: [String] = []) {
    precondition(text.allSatisfy { $0.utf8.count <= 255 }, "a TXT string has at most 255 bytes")
    self.name = Self.cut(name, to: 63)
    self.type = type
    self.port = port
    self.text = text
  }

  /// The same under another name, since somebody else has this one: `Tactus on kitchen #2`, then `#3`.
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

  /// At most `limit` bytes, no character in half.
  private static func cut(_ text: String, to limit: Int) -> String {
    var text = text
    while text.utf8.count > limit { text.removeLast() }
    return text
  }
}
