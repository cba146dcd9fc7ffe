@_spi(FromOutside) import Conversions
import Wire

extension JSONValue {
  /// Returns the member of an object with this name, or `nil` if the object lacks it or the value is not an object.
  func member(_ name: String) -> JSONValue? {
    if case .object(let members) = self { members.first { $0.name == name }?.value } else { nil }
  }

  /// The elements of a list, or `nil` if the value is not a list.
  var elements: [JSONValue]? { if case .list(let items) = self { items } else { nil } }

  /// The whole number, with true as 1 and false as 0, or `nil` if the value is not one of these.
  var whole: Int? {
    switch self {
    case .number: wholeNumber
    case .boolean(let value): value ? 1 : 0
    default: nil
    }
  }

  /// The text, or `nil` if the value is not a text.
  var words: String? { if case .text(let text) = self { text } else { nil } }

  /// Returns whether a bit is set in a list of bytes, with eight bits for each byte and the lowest bit first; false beyond its end.
  func hasBit(_ index: Int) -> Bool {
    guard let elements, elements.indices.contains(index / 8), let byte = elements[index / 8].whole else { return false }
    return byte >> (index % 8) & 1 == 1
  }
}
