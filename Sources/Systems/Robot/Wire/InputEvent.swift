/// One event of a Linux input device, such as a gamepad: `struct input_event` of `<linux/input.h>` without its time.
public struct InputEvent: Sendable, Hashable, BitwiseCopyable {
  /// The length of `struct input_event` in bytes: 24 on machines of 64 bits, 16 on those of 32.
  public static let length = 2 * MemoryLayout<Int>.size + 8
  /// The greatest number of events that are read at a time.
  public static let mostAtOnce = 64

  /// The kind, such as 3 for an axis (`EV_ABS`).
  public var type: UInt16
  /// The number of the axis or key among those of its kind.
  public var code: UInt16
  /// The axis's new value, or for a key 1 if it was pressed, 0 if it was released, 2 if it repeats.
  public var value: Int32

  /// Creates an event from its kind, its code and its value.
  public init(type: UInt16, code: UInt16, value: Int32) { (self.type, self.code, self.value) = (type, code, value) }

  /// Decodes the bytes of one read of a device, in this machine's byte order. Returns `nil` unless these are whole events, at most
  /// `mostAtOnce`, because anything else does not come from an input device.
  public static func decode(_ bytes: UnsafeRawBufferPointer) -> [InputEvent]? {
    guard bytes.count.isMultiple(of: length), bytes.count <= mostAtOnce * length else { return nil }
    return stride(from: length - 8, to: bytes.count, by: length).map { place in
      InputEvent(
        type: bytes.loadUnaligned(fromByteOffset: place, as: UInt16.self),
        code: bytes.loadUnaligned(fromByteOffset: place + 2, as: UInt16.self),
        value: bytes.loadUnaligned(fromByteOffset: place + 4, as: Int32.self))
    }
  }
}
