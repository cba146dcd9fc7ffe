@_spi(FromOutside) import Conversions
import Glibc
import Robot
import TactusDaemon
import Wire

/// An open input device of Linux, `/dev/input/event*`, that has the axes and buttons of a gamepad.
struct GamepadDevice: ~Copyable {
  static let folder = "/dev/input"

  /// The reason why there is no gamepad, in words for the person who gave the command.
  struct Failure: Error { let text: String }

  let path: String
  let name: String
  let descriptor: Int32

  /// Opens the device at `path`.
  init(path: String) throws(Failure) {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      let reason = String(cString: strerror(errno))
      let wayOut =
        errno == EACCES ? "; the group input may read it: sudo usermod -aG input \"$USER\", then log in anew" : ""
      throw Failure(text: "\(path): \(reason)\(wayOut)")
    }
    guard let name = Self.name(of: descriptor) else {
      close(descriptor)
      throw Failure(text: "\(path): expected an input device, /dev/input/event*, got something else")
    }
    guard Self.isGamepad(descriptor) else {
      close(descriptor)
      throw Failure(text: "\(path) (\(name)): expected a left stick and gamepad's buttons, it has none")
    }
    (self.path, self.name, self.descriptor) = (path, name, descriptor)
  }

  deinit { close(descriptor) }

  /// Opens the first gamepad of the machine.
  ///
  /// - Throws: a failure that lists the input devices that are no gamepads.
  static func first() throws(Failure) -> GamepadDevice {
    var others: [String] = []
    for path in paths() {
      do { return try GamepadDevice(path: path) } catch { others.append(error.text) }
    }
    guard !others.isEmpty else {
      throw Failure(text: "no gamepad: expected one among \(folder)/event*, there is no input device at all")
    }
    throw Failure(text: "no gamepad among the input devices:\n" + others.map { "  \($0)" }.joined(separator: "\n"))
  }

  /// Returns the paths of the input devices, ordered by number.
  private static func paths() -> [String] {
    guard let entries = opendir(folder) else { return [] }
    defer { closedir(entries) }
    var numbers: [Int] = []
    while let entry = readdir(entries) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasPrefix("event"), let number = Int(name.dropFirst(5)) { numbers.append(number) }
    }
    return numbers.sorted().map { "\(folder)/event\($0)" }
  }

  // MARK: properties of the device

  /// Returns the present position of the left stick, or `nil` if its range is empty or the device is gone.
  func gamepad(_ reach: Gamepad.Reach) -> Gamepad? {
    guard let x = axis(Gamepad.xAxis), let y = axis(Gamepad.yAxis) else { return nil }
    return Gamepad(x: x.axis, y: y.axis, reach: reach)
  }

  /// Returns the events that bring a gamepad up to date after the kernel has dropped some: both axes, and the emergency
  /// stop if its button is held.
  func presentEvents() -> [InputEvent] {
    let axes = [Gamepad.xAxis, Gamepad.yAxis].compactMap { number in
      axis(number).map { InputEvent(type: 3, code: number, value: $0.value) }
    }
    let keys = Self.bits(descriptor, 0x18)
    let isHeld = keys.map { Self.isSet(Gamepad.emergencyStopButton, in: $0) } ?? false
    return axes + (isHeld ? [InputEvent(type: 1, code: Gamepad.emergencyStopButton, value: 1)] : [])
  }

  private func axis(_ number: UInt16) -> (axis: GamepadAxis, value: Int32)? {
    // The six numbers are those of struct input_absinfo: value, minimum, maximum, fuzz, flat, resolution.
    var numbers = [Int32](repeating: 0, count: 6)
    guard Self.ask(descriptor, 0x40 + UInt(number), &numbers, 24) >= 0 else { return nil }
    let axis = GamepadAxis(minimum: numbers[1], maximum: numbers[2], flat: numbers[4], value: numbers[0])
    return axis.map { ($0, numbers[0]) }
  }

  private static func name(of descriptor: Int32) -> String? {
    var text = [UInt8](repeating: 0, count: 80)
    guard ask(descriptor, 0x06, &text, text.count) >= 0 else { return nil }
    return JSONValue.shortened(String(decoding: text.prefix { $0 != 0 }, as: UTF8.self))
  }

  private static func isGamepad(_ descriptor: Int32) -> Bool {
    guard let keys = bits(descriptor, 0x20 + 1), let axes = bits(descriptor, 0x20 + 3) else { return false }
    return isSet(Gamepad.stopButton, in: keys) && isSet(Gamepad.xAxis, in: axes) && isSet(Gamepad.yAxis, in: axes)
  }

  private static func bits(_ descriptor: Int32, _ number: UInt) -> [UInt8]? {
    var bits = [UInt8](repeating: 0, count: 96)
    return ask(descriptor, number, &bits, bits.count) >= 0 ? bits : nil
  }

  private static func isSet(_ bit: UInt16, in bits: [UInt8]) -> Bool {
    let place = Int(bit) / 8
    return place < bits.count && bits[place] & 1 << (bit % 8) != 0
  }

  /// Asks the device for `length` bytes: `_IOC(_IOC_READ, 'E', number, length)` of `<linux/input.h>`.
  private static func ask(_ descriptor: Int32, _ number: UInt, _ bytes: UnsafeMutableRawPointer, _ length: Int) -> Int32
  {
    ioctl(descriptor, 2 << 30 | UInt(clamping: length) << 16 | 0x45 << 8 | number, bytes)
  }

  // MARK: events

  /// Returns the events that wait, or `nil` if the device is gone.
  func read() -> [InputEvent]? {
    let size = InputEvent.mostAtOnce * InputEvent.length
    return withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
      let count = Glibc.read(descriptor, buffer.baseAddress, size)
      if count < 0 { return errno == EAGAIN || errno == EINTR ? [] : nil }
      guard count > 0 else { return nil }
      return InputEvent.decode(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }
}
