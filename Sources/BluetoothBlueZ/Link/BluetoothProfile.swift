/// A GATT service that carries messages in both directions, as agreed between both ends of a link.
public struct BluetoothProfile: Sendable, Hashable {
  /// The service that the peripheral advertises and the central looks for.
  public var service: BluetoothUUID
  /// The characteristic that the central writes, with or without response.
  public var toPeripheral: BluetoothUUID
  /// The characteristic with which the peripheral notifies. It may be the same as `toPeripheral`.
  public var toCentral: BluetoothUUID
  /// The greatest number of bytes of one write or notification, 1…512. 20 bytes fit the MTU of every device.
  public var mostBytes: Int
  /// Whether longer messages are sent in pieces, which have the same meaning as the whole. Otherwise longer messages are refused.
  public var isStream: Bool

  /// Creates a profile, by default of messages up to 20 bytes. A `mostBytes` outside 1…512 traps.
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

  /// The profile of LegCtrl v0.1, in which one write or notification is one frame.
  public static let framed = BluetoothProfile(
    service: BluetoothUUID("12345678-1234-1234-1234-123456789abc")!,
    toPeripheral: BluetoothUUID("12345678-1234-1234-1234-123456789abd")!,
    toCentral: BluetoothUUID("12345678-1234-1234-1234-123456789abe")!)

  /// The profile of the serial module HM-10 and similar ones, which have one characteristic for both directions and no frames.
  public static let serialModule = BluetoothProfile(
    service: BluetoothUUID("ffe0")!, toPeripheral: BluetoothUUID("ffe1")!, toCentral: BluetoothUUID("ffe1")!,
    isStream: true)
}
