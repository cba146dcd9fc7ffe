/// The UUID of a GATT service or characteristic, in the form that BlueZ writes: 36 lower-case characters.
public struct BluetoothUUID: Sendable, Hashable, CustomStringConvertible {
  /// `12345678-1234-1234-1234-123456789abc`: a short UUID, too, is written in full.
  public let text: String

  /// `12345678-1234-1234-1234-123456789abc`, or a short one of Bluetooth's own, `ffe0`. It is `nil` if neither.
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
}
