@_spi(FromOutside) import Conversions

#if Bonjour || Bluetooth
  import CSystemBus
  import Glibc

  /// A D-Bus message, whose arguments are written and read in the order of its signature.
  public struct BusMessage: ~Copyable {
    let pointer: OpaquePointer

    /// Creates a message that takes over the caller's reference.
    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    /// Creates a message that shares a reference with another owner, as for a handler.
    init(borrowing pointer: OpaquePointer) { self.pointer = sd_bus_message_ref(pointer) }

    deinit { sd_bus_message_unref(pointer) }

    /// Returns another reference to the same message, to answer it later.
    public func retained() -> BusMessage { BusMessage(borrowing: pointer) }

    public var path: String? { sd_bus_message_get_path(pointer).map { String(cString: $0) } }
    public var interface: String? { sd_bus_message_get_interface(pointer).map { String(cString: $0) } }
    public var member: String? { sd_bus_message_get_member(pointer).map { String(cString: $0) } }
    /// The unique bus name of the sender, such as `:1.23`, or `nil` if the message has none.
    public var sender: String? { sd_bus_message_get_sender(pointer).map { String(cString: $0) } }

    // MARK: writing

    public func append(_ value: Int32) throws(SystemBus.Failure) { try append("i", value) }
    public func append(_ value: UInt32) throws(SystemBus.Failure) { try append("u", value) }
    public func append(_ value: UInt16) throws(SystemBus.Failure) { try append("q", value) }

    public func append(_ text: String) throws(SystemBus.Failure) {
      try check(text.withCString { sd_bus_message_append_basic(pointer, Self.code("s"), $0) })
    }

    /// Appends a list of byte strings, of type `aay`.
    public func append(byteStrings: [[UInt8]]) throws(SystemBus.Failure) {
      try append(.list(byteStrings.map { .bytes($0) }), as: "aay")
    }

    /// Appends a value as `signature`, which is one complete type.
    public func append(_ value: BusValue, as signature: String) throws(SystemBus.Failure) {
      if signature == "v" {
        try check(sd_bus_message_open_container(pointer, Self.code("v"), value.signature))
        try append(value, as: value.signature)
        return try check(sd_bus_message_close_container(pointer))
      }
      switch value {
      case .bool(let value): try append("b", Int32(clamping: value ? 1 : 0))
      case .byte(let value): try append("y", value)
      case .int16(let value): try append("n", value)
      case .uint16(let value): try append("q", value)
      case .int32(let value): try append("i", value)
      case .uint32(let value): try append("u", value)
      case .int64(let value): try append("x", value)
      case .uint64(let value): try append("t", value)
      case .double(let value): try append("d", value)
      case .descriptor(let value): try append("h", value)
      case .text(let text), .path(let text):
        let code = Self.code(signature.first!)
        try check(text.withCString { sd_bus_message_append_basic(pointer, code, $0) })
      case .bytes(let bytes):
        try check(
          bytes.withUnsafeBytes { sd_bus_message_append_array(pointer, Self.code("y"), $0.baseAddress, $0.count) })
      case .list(let values):
        let element = String(signature.dropFirst())
        try check(sd_bus_message_open_container(pointer, Self.code("a"), element))
        for value in values { try append(value, as: element) }
        try check(sd_bus_message_close_container(pointer))
      case .dictionary(let entries):
        // The type "a{sv}" is an array of entries "{sv}": the key is one letter, the value is the rest.
        let entry = String(signature.dropFirst())
        let contents = String(entry.dropFirst().dropLast())
        try check(sd_bus_message_open_container(pointer, Self.code("a"), entry))
        // The keys have the same order every time: bluetoothd numbers a service's parts by it, and centrals remember the numbers.
        for (key, value) in entries.sorted(by: { ($0.key.text ?? "") < ($1.key.text ?? "") }) {
          try check(sd_bus_message_open_container(pointer, Self.code("e"), contents))
          try append(key, as: String(contents.prefix(1)))
          try append(value, as: String(contents.dropFirst()))
          try check(sd_bus_message_close_container(pointer))
        }
        try check(sd_bus_message_close_container(pointer))
      }
    }

    private func append<Value>(_ type: Character, _ value: Value) throws(SystemBus.Failure) {
      try check(withUnsafePointer(to: value) { sd_bus_message_append_basic(pointer, Self.code(type), $0) })
    }

    // MARK: reading

    /// Returns the next argument as an integer, or `nil` if it is not an integer.
    public func integer() -> Int32? {
      var value: Int32 = 0
      return sd_bus_message_read_basic(pointer, Self.code("i"), &value) > 0 ? value : nil
    }

    /// Returns the next argument as a text, or as an object's path if `type` is "o", or `nil` if it has another type.
    public func text(_ type: Character = "s") -> String? {
      var value: UnsafePointer<CChar>?
      guard sd_bus_message_read_basic(pointer, Self.code(type), &value) > 0, let value else { return nil }
      return String(cString: value)
    }

    /// Returns a duplicate of the next argument's descriptor, which the caller closes, or `nil` if the argument is no descriptor.
    public func descriptor() -> Int32? {
      guard case .descriptor(let borrowed)? = value() else { return nil }
      let own = fcntl(borrowed, F_DUPFD_CLOEXEC, 3)
      return own >= 0 ? own : nil
    }

    /// Returns the next argument of any type, or `nil` after the last argument or if its type is not supported.
    public func value() -> BusValue? {
      var type: CChar = 0
      var contents: UnsafePointer<CChar>?
      guard sd_bus_message_peek_type(pointer, &type, &contents) > 0 else { return nil }
      switch Character(UnicodeScalar(UInt8(bitPattern: type))) {
      case "b": return read(type, Int32(0)).map { .bool($0 != 0) }
      case "y": return read(type, UInt8(0)).map { .byte($0) }
      case "n": return read(type, Int16(0)).map { .int16($0) }
      case "q": return read(type, UInt16(0)).map { .uint16($0) }
      case "i": return read(type, Int32(0)).map { .int32($0) }
      case "u": return read(type, UInt32(0)).map { .uint32($0) }
      case "x": return read(type, Int64(0)).map { .int64($0) }
      case "t": return read(type, UInt64(0)).map { .uint64($0) }
      case "d": return read(type, Double(0)).map { .double($0) }
      case "h": return read(type, Int32(0)).map { .descriptor($0) }
      case "s", "g": return text(Character(UnicodeScalar(UInt8(bitPattern: type)))).map { .text($0) }
      case "o": return text("o").map { .path($0) }
      case "v":
        guard sd_bus_message_enter_container(pointer, type, contents) > 0 else { return nil }
        let inner = value()
        sd_bus_message_exit_container(pointer)
        return inner
      case "a": return array(contents!)
      default: return nil
      }
    }

    private func array(_ contents: UnsafePointer<CChar>) -> BusValue? {
      switch Character(UnicodeScalar(UInt8(bitPattern: contents.pointee))) {
      case "y":
        var start: UnsafeRawPointer?
        var count = 0
        guard sd_bus_message_read_array(pointer, Self.code("y"), &start, &count) >= 0 else { return nil }
        return .bytes(Array(UnsafeRawBufferPointer(start: start, count: count)))
      case "{":
        guard sd_bus_message_enter_container(pointer, Self.code("a"), contents) >= 0 else { return nil }
        let inside = String(String(cString: contents).dropFirst().dropLast())
        var entries: [BusValue: BusValue] = [:]
        while sd_bus_message_enter_container(pointer, Self.code("e"), inside) > 0 {
          guard let key = value(), let value = value() else { return nil }
          entries[key] = value
          sd_bus_message_exit_container(pointer)
        }
        sd_bus_message_exit_container(pointer)
        return .dictionary(entries)
      default:
        guard sd_bus_message_enter_container(pointer, Self.code("a"), contents) >= 0 else { return nil }
        var values: [BusValue] = []
        while let value = value() { values.append(value) }
        sd_bus_message_exit_container(pointer)
        return .list(values)
      }
    }

    private func read<Value: BitwiseCopyable>(_ type: CChar, _ initial: Value) -> Value? {
      var value = initial
      return sd_bus_message_read_basic(pointer, type, &value) > 0 ? value : nil
    }

    private func check(_ result: Int32) throws(SystemBus.Failure) {
      if result < 0 { throw SystemBus.Failure(errno: -result) }
    }

    private static func code(_ type: Character) -> CChar { CChar(bitPattern: type.asciiValue!) }
  }
#endif
