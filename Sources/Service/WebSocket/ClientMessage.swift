import Foundation

/// What a WebSocket client says in a text message.
struct ClientMessage: Decodable {
  enum Kind: String {
    case subscribe, unsubscribe, ping
    case eStop = "e-stop"
    case reset
  }

  /// Whatever the client wants to find in the answer: a number, a string or nothing.
  enum ID: Codable, Equatable {
    case number(Int)
    case text(String)

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      self =
        if let number = try? value.decode(Int.self) { .number(number) } else { .text(try value.decode(String.self)) }
    }

    func encode(to encoder: any Encoder) throws {
      var value = encoder.singleValueContainer()
      switch self {
      case .number(let number): try value.encode(number)
      case .text(let text): try value.encode(text)
      }
    }
  }

  let type: String
  let id: ID?
  /// Of subscribe and unsubscribe; nil: all.
  let systems: [String]?
  /// Of subscribe, 1…10; nil: 10.
  let rateHz: Double?

  var kind: Kind? { Kind(rawValue: type) }

  /// - Throws: `JSON`, `VALIDATION`: for an `error` event.
  init(text: String) throws(APIError) {
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
    } catch DecodingError.keyNotFound(let key, _) {
      throw .validation(key.stringValue, expected: "a value", got: "none")
    } catch DecodingError.typeMismatch(_, let context) {
      let field = context.codingPath.map(\.stringValue).joined(separator: ".")
      throw .validation(field.isEmpty ? "message" : field, expected: "another type", got: "a value of a wrong type")
    } catch {
      throw APIError(.badRequest, "BAD_JSON", "not a JSON object")
    }
  }
}
