@_spi(Reflection) import Swift

/// The first field in which two values of one type differ. Padding and the unused part of an enumeration are ignored.
struct FieldDifference {
  /// The names of the fields from the outermost one on, such as `.state.tilt`. The path is empty if the value has no fields.
  var path: String
  var recorded: String
  var replayed: String

  /// Returns the first difference between two values of a type, or `nil` if the values are equal.
  static func first(
    of type: Any.Type, recorded: UnsafeRawPointer, replayed: UnsafeRawPointer
  ) -> FieldDifference? {
    // The tape's bytes may not be aligned for the type, so they are copied to memory that is.
    let (size, alignment) = measure(type)
    let copies = UnsafeMutableRawPointer.allocate(byteCount: 2 * size + alignment, alignment: max(16, alignment))
    defer { copies.deallocate() }
    let second = copies + (size + alignment - 1) / alignment * alignment
    copies.copyMemory(from: recorded, byteCount: size)
    second.copyMemory(from: replayed, byteCount: size)
    return find(type, UnsafeRawPointer(copies), UnsafeRawPointer(second), "")
  }

  private static func find(
    _ type: Any.Type, _ recorded: UnsafeRawPointer, _ replayed: UnsafeRawPointer, _ path: String
  ) -> FieldDifference? {
    let size = measure(type).size
    if (0..<size).allSatisfy({ byte($0, recorded) == byte($0, replayed) }) { return nil }
    if let elements = type as? any InlineElements.Type {
      let step = elements.step
      for index in 0..<elements.number {
        let found = find(elements.element, recorded + index * step, replayed + index * step, "\(path)[\(index)]")
        if let found { return found }
      }
      return nil
    }
    if type is any BinaryInteger.Type || type is any FloatingPoint.Type || type is Bool.Type {
      return FieldDifference(path: path, recorded: text(type, recorded), replayed: text(type, replayed))
    }
    var fields: [(name: String, offset: Int, type: Any.Type)] = []
    let isStruct = _forEachField(of: type) { name, offset, field, _ in
      fields.append((String(cString: name), offset, field))
      return true
    }
    if isStruct, !fields.isEmpty {
      for (index, field) in fields.enumerated() {
        let name = path + "." + field.name
        let next = index + 1 < fields.count ? fields[index + 1].offset : size
        // Reflection reports size 0 for a type that it does not know; the bytes up to the next field are then compared.
        if measure(field.type).size > 0 || next == field.offset {
          let found = find(field.type, recorded + field.offset, replayed + field.offset, name)
          if let found { return found }
        } else if let place = (field.offset..<next).first(where: { byte($0, recorded) != byte($0, replayed) }) {
          return FieldDifference(
            path: "\(name) byte \(place - field.offset)", recorded: "\(byte(place, recorded))",
            replayed: "\(byte(place, replayed))")
        }
      }
      return nil
    }
    // An enumeration, or a type that reflection cannot open, is compared by its description.
    let (one, other) = (text(type, recorded), text(type, replayed))
    return one == other ? nil : FieldDifference(path: path, recorded: one, replayed: other)
  }

  private static func byte(_ place: Int, _ pointer: UnsafeRawPointer) -> UInt8 {
    pointer.load(fromByteOffset: place, as: UInt8.self)
  }

  private static func measure(_ type: Any.Type) -> (size: Int, alignment: Int) {
    func measured<Value>(_: Value.Type) -> (size: Int, alignment: Int) {
      (MemoryLayout<Value>.size, MemoryLayout<Value>.alignment)
    }
    return measured(type)
  }

  private static func text(_ type: Any.Type, _ pointer: UnsafeRawPointer) -> String {
    func load<Value>(_: Value.Type) -> String { text(pointer.assumingMemoryBound(to: Value.self).pointee) }
    return load(type)
  }

  /// Returns a value as text with all its parts, whatever its own description leaves out.
  private static func text(_ value: Any) -> String {
    let mirror = Mirror(reflecting: value)
    if mirror.children.isEmpty { return "\(value)" }
    let parts = mirror.children.map { child in (child.label.map { "\($0): " } ?? "") + text(child.value) }
    return mirror.displayStyle == .optional ? parts[0] : "(\(parts.joined(separator: ", ")))"
  }
}

/// An array that is stored in the value itself, which reflection cannot open.
private protocol InlineElements {
  static var number: Int { get }
  static var element: Any.Type { get }
  static var step: Int { get }
}

extension InlineArray: InlineElements where Element: Copyable {
  static var number: Int { count }
  static var element: Any.Type { Element.self }
  static var step: Int { MemoryLayout<Element>.stride }
}
