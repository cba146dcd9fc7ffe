@_spi(FromOutside) import Conversions
import Wire

/// A text message of a WebSocket client.
struct ClientMessage {
  enum Kind: String {
    case subscribe, unsubscribe, changes, ping
    case eStop = "e-stop"
    case reset
  }

  /// The identifier that the answer repeats, a number or a text.
  enum ID: Encodable, Equatable {
    case number(Int)
    case text(String)

    func encode(to encoder: any Encoder) throws {
      var value = encoder.singleValueContainer()
      switch self {
      case .number(let number): try value.encode(number)
      case .text(let text): try value.encode(text)
      }
    }
  }

  /// The greatest length of a message in bytes. It is many times that of the longest valid message; the event loop reads the message while other
  /// clients wait.
  static let longest = 16 * 1024

  let type: String
  let id: ID?
  /// The systems that the message names, or `nil` for all systems.
  let systems: [String]?
  /// The reason why the systems that an e-stop names cannot be read, or `nil` if they can. It is also `nil` for every other message, which is refused
  /// instead.
  let unreadable: APIError?
  /// The telemetry rate that a subscriber requests, in hertz; any number, or `nil` for 10.
  let rateHz: Double?

  var kind: Kind? { Kind(rawValue: type) }

  /// Reads a message. Unknown members are ignored.
  ///
  /// - Throws: `TOO_LARGE`, `BAD_JSON` or `VALIDATION`, to be sent as an `error` event.
  init(text: String) throws(APIError) {
    guard text.utf8.count <= Self.longest else {
      throw APIError(
        .contentTooLarge, "TOO_LARGE", "expected at most \(Self.longest) bytes, got \(text.utf8.count)")
    }
    let value: JSONValue
    do {
      value = try JSONParser.parse(Array(text.utf8))
    } catch {
      throw APIError(.badRequest, "BAD_JSON", "line \(error.line), column \(error.column): \(error.reason)")
    }
    self = try JSONReader.read(value, field: "") { (reader) throws(APIError) in
      reader.ignoreUnknown()
      return try ClientMessage(&reader)
    }
  }

  private init(_ body: inout JSONReader) throws(APIError) {
    type = try body.required("type", .text(0...100))
    let names = JSONKind.list(of: .text(0...100), 0...100)
    if type == Kind.eStop.rawValue {
      // A stop is not refused for an error in an optional member.
      (id, rateHz) = (try? body.optional("id", .clientID), nil)
      do throws(APIError) {
        (systems, unreadable) = (try body.optional("systems", names), nil)
      } catch {
        (systems, unreadable) = (nil, error)
      }
    } else {
      (id, unreadable) = (try body.optional("id", .clientID), nil)
      systems = try body.optional("systems", names)
      rateHz = try body.optional("rateHz", JSONKind("a number") { $0.digits.flatMap { Double($0) } })
    }
  }
}

extension JSONKind where Value == ClientMessage.ID {
  fileprivate static var clientID: JSONKind {
    JSONKind("an integer or text") { value in
      if case .text(let text) = value { return .text(text) }
      return value.wholeNumber.map { .number($0) }
    }
  }
}

extension JSONValue {
  fileprivate var digits: String? { if case .number(let digits) = self { digits } else { nil } }
}
