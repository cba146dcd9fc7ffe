@_spi(FromOutside) import Conversions

/// A zone's number as users and the API know it, 1…64. Bit `number − 1` of a `ZoneSet` stands for the zone.
public struct ZoneID: Sendable, Hashable, Comparable, Codable, BitwiseCopyable {
  public let number: UInt8

  public static var maximum: Int {
    @_noLocks @_noAllocation get { 64 }
  }

  /// Creates the id of the zone with this number, or returns `nil` if the number is outside 1…64.
  @_noLocks @_noAllocation
  public init?(_ number: Int) {
    guard number >= 1, number <= Self.maximum else { return nil }
    self.number = UInt8(clamping: number)
  }

  /// The zone's index in arrays by zone, 0…63.
  public var index: Int {
    @_noLocks @_noAllocation get { Int(number) - 1 }
  }

  /// Creates the id of the zone at this index in arrays by zone.
  ///
  /// - Parameter index: 0…63; any other value is a programming error.
  @_noLocks @_noAllocation
  public init(index: Int) {
    precondition(index >= 0 && index < Self.maximum, "zones are 1…64")
    number = UInt8(clamping: index + 1)
  }

  @_noLocks @_noAllocation
  public static func < (left: Self, right: Self) -> Bool { left.number < right.number }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let id = Self(try container.decode(Int.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "a zone is 1…64")
    }
    self = id
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(number)
  }
}

extension ZoneID: CustomStringConvertible {
  public var description: String { "\(number)" }
}
