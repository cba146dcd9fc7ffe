// Names for the registers of the PCA9685 datasheet, §7.3.

extension PCA9685 {
  enum Register {
    static var mode1: UInt8 {
      @_noLocks @_noAllocation get { 0x00 }
    }
    static var mode2: UInt8 {
      @_noLocks @_noAllocation get { 0x01 }
    }
    /// Returns the register LEDn_ON_L, which is followed by ON_H, OFF_L and OFF_H.
    @_noLocks @_noAllocation
    static func channel(_ channel: Int) -> UInt8 { UInt8(truncatingIfNeeded: 0x06 + 4 * channel) }
    static var allOffHigh: UInt8 {
      @_noLocks @_noAllocation get { 0xFD }
    }
    static var prescale: UInt8 {
      @_noLocks @_noAllocation get { 0xFE }
    }
  }

  enum Mode1 {
    static var restart: UInt8 {
      @_noLocks @_noAllocation get { 0x80 }
    }
    static var externalClock: UInt8 {
      @_noLocks @_noAllocation get { 0x40 }
    }
    static var autoIncrement: UInt8 {
      @_noLocks @_noAllocation get { 0x20 }
    }
    static var sleep: UInt8 {
      @_noLocks @_noAllocation get { 0x10 }
    }
    static var allCall: UInt8 {
      @_noLocks @_noAllocation get { 0x01 }
    }
  }

  enum Mode2 {
    /// The OUTDRV bit: outputs drive in both directions, are not inverted and change at the end of a transfer.
    static var totemPole: UInt8 {
      @_noLocks @_noAllocation get { 0x04 }
    }
  }

  enum Channel {
    /// The bit for full on in ON_H and for full off in OFF_H, where full off has priority.
    static var full: UInt8 {
      @_noLocks @_noAllocation get { 0x10 }
    }
  }
}
