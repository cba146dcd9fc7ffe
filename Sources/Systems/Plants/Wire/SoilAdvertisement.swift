@_spi(FromOutside) import Conversions

/// The values of a soil sensor's advertisement. Each value is `nil` if the advertisement lacks it.
///
/// Sensors of one kind send all values at once, others one after the other in turn.
public struct SoilAdvertisement: Sendable, Hashable, BitwiseCopyable {
  /// The moisture of the soil in hundredths of a per cent, 0…10,000.
  public internal(set) var moisture: Int?
  /// The temperature in hundredths of a degree Celsius, −10,000…10,000.
  public internal(set) var temperature: Int?
  /// The charge of the sensor's battery in per cent, 0…100.
  public internal(set) var battery: Int?

  /// The formats that are read, each the data of one service.
  public enum Format: Sendable, CaseIterable {
    /// BTHome, version 2, unencrypted.
    case btHome
    /// Xiaomi's MiBeacon as a MiFlora (Flower Care) sends it, unencrypted.
    case miBeacon

    /// The short UUID of the service in lower-case hexadecimal.
    public var service: String {
      switch self {
      case .btHome: "fcd2"
      case .miBeacon: "fe95"
      }
    }
  }

  init() {}

  /// Reads the data of a service. The result is `nil` if the data have another form, are encrypted, or contain none of the values. A value out of its
  /// range counts as missing.
  ///
  /// Source: bthome.io/format; for MiBeacon what is public of Xiaomi's specification, and the frames of a MiFlora.
  public init?(_ data: [UInt8], as format: Format) {
    switch format {
    case .btHome: readBTHome(data)
    case .miBeacon: readMiBeacon(data)
    }
    if self == SoilAdvertisement() { return nil }
  }

  // MARK: BTHome

  private mutating func readBTHome(_ data: [UInt8]) {
    // Bit 0: encrypted; bits 5…7: the version.
    guard let information = data.first, information & 1 == 0, information >> 5 == 2 else { return }
    var rest = data.dropFirst()
    while let object = rest.popFirst() {
      guard let length = Self.length(of: object, rest), rest.count >= length else { return }
      let value = rest.prefix(length)
      rest = rest.dropFirst(length)
      switch object {
      case 0x01: battery = Self.unsigned(value, within: 0...100)
      case 0x02: temperature = Self.signed(value, within: -10_000...10_000)
      case 0x45: temperature = Self.signed(value, within: -1_000...1_000).map { $0 * 10 }
      case 0x57: temperature = Self.signed(value, within: -100...100).map { $0 * 100 }
      case 0x58: temperature = Self.signed(value, within: -128...127).map { $0 * 35 }
      case 0x14: moisture = Self.unsigned(value, within: 0...10_000)
      case 0x2F: moisture = Self.unsigned(value, within: 0...100).map { $0 * 100 }
      default: break
      }
    }
  }

  /// Returns the number of bytes of an object's value, or `nil` if the object is not known, after which nothing can be read.
  private static func length(of object: UInt8, _ rest: ArraySlice<UInt8>) -> Int? {
    switch object {
    case 0x00, 0x01, 0x09, 0x0F...0x11, 0x15...0x2F, 0x3A, 0x46, 0x57...0x59, 0x60: 1
    case 0x02, 0x03, 0x06...0x08, 0x0C...0x0E, 0x12...0x14, 0x3C, 0x3D, 0x3F...0x41, 0x43...0x45, 0x47, 0x48, 0x4A,
      0x51, 0x52, 0x56, 0x5A, 0x5D...0x5F, 0x61, 0xF0:
      2
    case 0x04, 0x05, 0x0A, 0x0B, 0x42, 0x49, 0x4B, 0xF2: 3
    case 0x3E, 0x4C...0x50, 0x55, 0x5B, 0x5C, 0x62, 0x63, 0xF1: 4
    // Text and raw bytes, whose first byte is their length.
    case 0x53, 0x54: rest.first.map { 1 + Int($0) }
    default: nil
    }
  }

  // MARK: MiBeacon

  private mutating func readMiBeacon(_ data: [UInt8]) {
    // The frame has frame control, product and counter; then address and capability if bits of the frame control say so.
    guard data.count >= 5 else { return }
    let control = Int(data[0]) | Int(data[1]) << 8
    let (isEncrypted, hasAddress, hasCapability, hasObject) =
      (control & 0x08 != 0, control & 0x10 != 0, control & 0x20 != 0, control & 0x40 != 0)
    guard !isEncrypted, hasObject else { return }
    var rest = data.dropFirst(5 + (hasAddress ? 6 : 0))
    if hasCapability {
      guard let capability = rest.popFirst() else { return }
      // Two more bytes describe the sensor's inputs and outputs.
      if capability & 0x20 != 0 { rest = rest.dropFirst(2) }
    }
    while rest.count >= 3 {
      let head = Array(rest.prefix(3))
      let (object, length) = (Int(head[0]) | Int(head[1]) << 8, Int(head[2]))
      rest = rest.dropFirst(3)
      guard rest.count >= length else { return }
      let value = rest.prefix(length)
      rest = rest.dropFirst(length)
      switch (object, length) {
      case (0x1004, 2): temperature = Self.signed(value, within: -1_000...1_000).map { $0 * 10 }
      case (0x1008, 1): moisture = Self.unsigned(value, within: 0...100).map { $0 * 100 }
      case (0x100A, 1): battery = Self.unsigned(value, within: 0...100)
      default: break
      }
    }
  }

  // MARK: numbers, the low byte first

  private static func unsigned(_ bytes: ArraySlice<UInt8>, within range: ClosedRange<Int>) -> Int? {
    var value = 0
    for byte in bytes.reversed() { value = value << 8 | Int(byte) }
    return range.contains(value) ? value : nil
  }

  private static func signed(_ bytes: ArraySlice<UInt8>, within range: ClosedRange<Int>) -> Int? {
    guard let last = bytes.last else { return nil }
    var value = last & 0x80 == 0 ? 0 : -1
    for byte in bytes.reversed() { value = value << 8 | Int(byte) }
    return range.contains(value) ? value : nil
  }
}
