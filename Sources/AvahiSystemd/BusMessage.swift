#if Bonjour
  import CSystemBus

  /// A D-Bus message: arguments are written and read in the order of its signature.
  struct BusMessage: ~Copyable {
    let pointer: OpaquePointer

    /// Takes over the caller's reference.
    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    /// Someone else's message, as a handler gets it.
    init(borrowing pointer: OpaquePointer) { self.pointer = sd_bus_message_ref(pointer) }

    deinit { sd_bus_message_unref(pointer) }

    func append(_ value: Int32) throws(SystemBus.Failure) { try append("i", value) }
    func append(_ value: UInt32) throws(SystemBus.Failure) { try append("u", value) }
    func append(_ value: UInt16) throws(SystemBus.Failure) { try append("q", value) }

    func append(_ text: String) throws(SystemBus.Failure) {
      try check(text.withCString { sd_bus_message_append_basic(pointer, Self.code("s"), $0) })
    }

    /// `aay`: a list of byte strings.
    func append(byteStrings: [[UInt8]]) throws(SystemBus.Failure) {
      try check(sd_bus_message_open_container(pointer, Self.code("a"), "ay"))
      for bytes in byteStrings {
        try check(
          bytes.withUnsafeBytes { sd_bus_message_append_array(pointer, Self.code("y"), $0.baseAddress, $0.count) })
      }
      try check(sd_bus_message_close_container(pointer))
    }

    /// nil: the next argument is no integer.
    func integer() -> Int32? {
      var value: Int32 = 0
      return sd_bus_message_read_basic(pointer, Self.code("i"), &value) > 0 ? value : nil
    }

    /// A text, or with "o" an object's path; nil: the next argument is none.
    func text(_ type: Character = "s") -> String? {
      var value: UnsafePointer<CChar>?
      guard sd_bus_message_read_basic(pointer, Self.code(type), &value) > 0, let value else { return nil }
      return String(cString: value)
    }

    private func append<Value>(_ type: Character, _ value: Value) throws(SystemBus.Failure) {
      try check(withUnsafePointer(to: value) { sd_bus_message_append_basic(pointer, Self.code(type), $0) })
    }

    private func check(_ result: Int32) throws(SystemBus.Failure) {
      if result < 0 { throw SystemBus.Failure(errno: -result) }
    }

    private static func code(_ type: Character) -> CChar { CChar(bitPattern: type.asciiValue!) }
  }
#endif
