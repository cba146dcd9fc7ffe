/// The notice that a Bluetooth module with AT+NOTI1 (HM-10 and similar ones) writes into the line when its connection is established or lost.
///
/// Source: HM-10 datasheet, AT+NOTI and AT+NOTP.
enum PumpModuleNotice {
  /// The number of bytes of `OK+CONN` and of `OK+LOST`.
  static var length: Int {
    @_noLocks @_noAllocation get { 7 }
  }

  /// Returns whether these bytes, the newest in the lowest place, end with a notice.
  @_noLocks @_noAllocation
  static func ends(_ recent: UInt64) -> Bool {
    let last = recent & 0xFF_FFFF_FFFF_FFFF
    // OK+CONN, OK+LOST.
    return last == 0x4F_4B2B_434F_4E4E || last == 0x4F_4B2B_4C4F_5354
  }

  /// Returns the number of bytes after a notice that still belong to it: `:` and twelve hexadecimal digits of an address, or a letter that gives the
  /// reason why no connection was made. No command begins with such a letter, and of the replies only ERROR does.
  @_noLocks @_noAllocation
  static func restLength(_ bytes: UnsafeMutableRawBufferPointer, _ count: Int) -> Int {
    guard count > 0 else { return 0 }
    switch bytes[0] {
    case 0x3A:
      guard count > 12 else { return 0 }
      for place in 1...12 where !isHexadecimal(bytes[place]) { return 0 }
      return 13
    case 0x45: return count > 1 && bytes[1] == 0x52 ? 0 : 1
    case 0x46, 0x4E: return 1
    default: return 0
    }
  }

  @_noLocks @_noAllocation
  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 6
  }
}
