import Foundation

/// The members of a body that is a flat JSON object, each asked for by name and type.
///
/// For bodies whose members depend on each other, which `Decodable` cannot say.
struct BodyReader {
  /// One member's value.
  private enum Value: Decodable, CustomStringConvertible {
    case null
    case flag(Bool)
    case integer(Int)
    case number(Double)
    case text(String)
    case compound

    init(from decoder: any Decoder) throws {
      guard let value = try? decoder.singleValueContainer() else {
        self = .compound
        return
      }
      if value.decodeNil() {
        self = .null
      } else if let flag = try? value.decode(Bool.self) {
        self = .flag(flag)
      } else if let integer = try? value.decode(Int.self) {
        self = .integer(integer)
      } else if let number = try? value.decode(Double.self) {
        self = .number(number)
      } else if let text = try? value.decode(String.self) {
        self = .text(text)
      } else {
        self = .compound
      }
    }

    var description: String {
      switch self {
      case .null: "null"
      case .flag(let flag): String(flag)
      case .integer(let integer): String(integer)
      case .number(let number): String(number)
      case .text(let text): "\"\(text.prefix(40))\""
      case .compound: "an array or object"
      }
    }
  }

  private let members: [String: Value]

  /// - Throws: 400 `BAD_JSON` with the position; 422 when it is no object.
  init(_ body: [UInt8]) throws(APIError) {
    do {
      members = try JSONDecoder().decode([String: Value].self, from: Data(body))
    } catch DecodingError.dataCorrupted(let context) {
      let reason = (context.underlyingError as? NSError)?.userInfo["NSDebugDescription"] as? String
      throw APIError(.badRequest, "BAD_JSON", "the body is not JSON: \(reason ?? context.debugDescription)")
    } catch {
      throw APIError(.unprocessableContent, "VALIDATION", "the body: expected a JSON object, got another value")
    }
  }

  /// - Throws: 422 for a member that is not among `names`.
  func allow(_ names: [String]) throws(APIError) {
    guard let unknown = members.keys.sorted().first(where: { !names.contains($0) }) else { return }
    throw .validation(
      String(unknown.prefix(40)), expected: "one of the fields \(names.joined(separator: ", "))", got: "another one")
  }

  func has(_ name: String) -> Bool { members[name] != nil }

  func text(_ name: String) throws(APIError) -> String {
    guard case .text(let text) = members[name] else { throw wrong(name, expected: "text") }
    return text
  }

  func integer(_ name: String, in range: ClosedRange<Int>) throws(APIError) -> Int {
    guard case .integer(let value) = members[name], range.contains(value) else {
      throw wrong(name, expected: "an integer, \(range.lowerBound)…\(range.upperBound)")
    }
    return value
  }

  private func wrong(_ name: String, expected: String) -> APIError {
    .validation(name, expected: expected, got: members[name].map { "\($0)" } ?? "nothing")
  }
}
