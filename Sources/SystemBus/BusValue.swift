@_spi(FromOutside) import Conversions

#if Bonjour || Bluetooth
  /// A D-Bus value, such as that of a property. A variant is read as its content.
  public indirect enum BusValue: Sendable, Hashable {
    case bool(Bool)
    case byte(UInt8)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case text(String)
    case path(String)
    case bytes([UInt8])
    case list([BusValue])
    case dictionary([BusValue: BusValue])
    /// A file descriptor. A descriptor that was read belongs to the message; `BusMessage.descriptor` returns a duplicate.
    case descriptor(Int32)

    /// Returns a dictionary of type `a{sv}`.
    public static func properties(_ properties: [String: BusValue]) -> BusValue {
      .dictionary(Dictionary(uniqueKeysWithValues: properties.map { (.text($0.key), $0.value) }))
    }

    public static func texts(_ texts: [String]) -> BusValue { .list(texts.map { .text($0) }) }

    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The value as an integer, whatever its integer type is, or `nil` if it is no integer.
    public var integer: Int? {
      switch self {
      case .byte(let value): Int(value)
      case .int16(let value): Int(value)
      case .uint16(let value): Int(value)
      case .int32(let value): Int(value)
      case .uint32(let value): Int(value)
      case .int64(let value): Int(value)
      case .uint64(let value): Int(exactly: value)
      default: nil
      }
    }

    /// The value as a text or an object's path, or `nil` if it is neither.
    public var text: String? {
      switch self {
      case .text(let value), .path(let value): value
      default: nil
      }
    }

    public var bytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }

    /// The value as a list of texts, or `nil` if it is no list.
    public var texts: [String]? { if case .list(let values) = self { values.compactMap(\.text) } else { nil } }

    /// The value as a dictionary whose keys are texts or paths, or `nil` if it is no dictionary.
    public var properties: [String: BusValue]? {
      guard case .dictionary(let entries) = self else { return nil }
      var found: [String: BusValue] = [:]
      for (key, value) in entries { if let key = key.text { found[key] = value } }
      return found
    }

    /// The signature of the value, as a variant needs it. An empty list counts as a list of texts.
    var signature: String {
      switch self {
      case .bool: "b"
      case .byte: "y"
      case .int16: "n"
      case .uint16: "q"
      case .int32: "i"
      case .uint32: "u"
      case .int64: "x"
      case .uint64: "t"
      case .double: "d"
      case .text: "s"
      case .path: "o"
      case .bytes: "ay"
      case .list(let values): "a" + (values.first?.signature ?? "s")
      case .dictionary: "a{sv}"
      case .descriptor: "h"
      }
    }
  }
#endif
