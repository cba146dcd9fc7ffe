/// The UUID of a GATT service or characteristic, in the form that BlueZ writes: 36 lower-case characters.
public struct BluetoothUUID: Sendable, Hashable, CustomStringConvertible {
  /// The UUID as text, such as `12345678-1234-1234-1234-123456789abc`. A short UUID is also written in full.
  public let text: String

  /// Parses `12345678-1234-1234-1234-123456789abc`, or a short UUID of the Bluetooth specification such as `ffe0`. The result is
  /// `nil` for any other text.
  public init?(_ text: String) {
    let lower = text.lowercased()
    let full = lower.utf8.count == 4 ? "0000\(lower)-0000-1000-8000-00805f9b34fb" : lower
    let groups = full.split(separator: "-", omittingEmptySubsequences: false)
    guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12],
      groups.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) } })
    else { return nil }
    self.text = full
  }

  public var description: String { text }

  /// The UUID as people write it: a short UUID of the Bluetooth specification with its four digits.
  public var short: String {
    let end = "-0000-1000-8000-00805f9b34fb"
    return text.hasPrefix("0000") && text.hasSuffix(end) ? String(text.dropFirst(4).prefix(4)) : text
  }
}
