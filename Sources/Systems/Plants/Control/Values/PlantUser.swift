@_spi(FromOutside) import Conversions

/// A client's name as the key of its data: the name itself if it is 1…64 of `A–Z a–z 0–9 . _ -`, otherwise `#` and a hash of the name.
///
/// The key is never a path, whatever the client's name is: it contains no slash and does not consist of dots.
public struct PlantUser: Sendable, Hashable, Codable {
  public let key: String

  public init(sender: String) {
    let bytes = sender.utf8
    let isPlain =
      (1...64).contains(bytes.count) && bytes.allSatisfy(Self.isAllowed)
      && !bytes.allSatisfy { $0 == UInt8(ascii: ".") }
    key = isPlain ? sender : "#" + Self.hash(bytes)
  }

  /// Creates a user from a key that `init(sender:)` has made. Returns `nil` for any other text.
  public init?(key: String) {
    let digits = key.utf8.dropFirst()
    let isHash = key.utf8.first == UInt8(ascii: "#") && digits.count == 16 && digits.allSatisfy(Self.isHexDigit)
    guard isHash || Self(sender: key).key == key else { return nil }
    self.key = key
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let user = Self(key: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not the key of a plant user")
    }
    self = user
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(key)
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }

  /// Returns the 64-bit FNV-1a hash. Names are neither secret nor authenticated, so a collision grants no more than using another client's name
  /// would.
  private static func hash(_ bytes: String.UTF8View) -> String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension PlantUser: CustomStringConvertible {
  public var description: String { key }
}
