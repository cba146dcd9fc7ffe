/// A GATT service that carries messages both ways: what both ends of a link agree on.
public struct BluetoothProfile: Sendable, Hashable {
  /// The service that the peripheral advertises and the central looks for.
  public var service: BluetoothUUID
  /// The characteristic that the central writes: with or without response.
  public var toPeripheral: BluetoothUUID
  /// The characteristic that the peripheral notifies. May be the same.
  public var toCentral: BluetoothUUID
  /// Bytes of one write or notification, 1…512: 20 with the MTU that every device has.
  public var mostBytes: Int
  /// Longer messages are sent in pieces, which mean the same as the whole; otherwise they are refused.
  public var isStream: Bool

  /// A profile of messages up to 20 bytes unless told otherwise. A `mostBytes` outside 1…512 traps.
  public init(
    service: BluetoothUUID, toPeripheral: BluetoothUUID, toCentral: BluetoothUUID, mostBytes: Int = 20,
    isStream: Bool = false
  ) {
    precondition((1...512).contains(mostBytes), "an attribute has at most 512 bytes")
    self.service = service
    self.toPeripheral = toPeripheral
    self.toCentral = toCentral
    self.mostBytes = mostBytes
    self.isStream = isStream
  }

  /// One write or notification is one frame: LegCtrl v0.1.
  public static let framed = BluetoothProfile(
    service: BluetoothUUID("12345678-1234-1234-1234-123456789abc")!,
    toPeripheral: BluetoothUUID("12345678-1234-1234-1234-123456789abd")!,
    toCentral: BluetoothUUID("12345678-1234-1234-1234-123456789abe")!)

  /// The serial modules HM-10 and their kin: one characteristic both ways, no frames.
  public static let serialModule = BluetoothProfile(
    service: BluetoothUUID("ffe0")!, toPeripheral: BluetoothUUID("ffe1")!, toCentral: BluetoothUUID("ffe1")!,
    isStream: true)
}
