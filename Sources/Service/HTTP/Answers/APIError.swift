import HTTPTypes
import Store

/// The error of a request, sent as `{"ok":false,"code":…,"message":…}`.
public struct APIError: Error, Sendable, Hashable {
  /// The HTTP status of the answer, 4xx or 5xx.
  public let status: HTTPResponse.Status
  /// The code for programs in SCREAMING_SNAKE, such as TOKEN_EXPIRED, ZONE_DENY, GPIO_BUSY or VALIDATION.
  public let code: String
  /// The message for people: the field, the position, the expectation and the value received.
  public let message: String
  /// The field that was wrong, such as `zones[2].minutes`, or `nil` if the error is about no single field.
  public let field: String?
  /// Further header fields of the answer, such as `Allow`, `Retry-After` or `WWW-Authenticate`.
  public let headers: HTTPFields

  /// Makes an error with its HTTP status.
  ///
  /// - Parameters:
  ///   - code: the code for programs, in SCREAMING_SNAKE; a word in camel case, such as `overLimit`, is brought into that form.
  ///   - message: the message for people.
  ///   - field: the field or parameter that was wrong, or `nil` if the error is about no single field.
  public init(
    _ status: HTTPResponse.Status, _ code: String, _ message: String, field: String? = nil, headers: HTTPFields = [:]
  ) {
    self.status = status
    self.code = Self.form(of: code)
    self.message = message
    self.field = field
    self.headers = headers
  }

  /// Returns a code in the form that all codes have.
  private static func form(of code: String) -> String {
    guard code.utf8.contains(where: { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }) else { return code }
    return code.reduce(into: "") { form, letter in
      if letter.isUppercase, form.last ?? "_" != "_" { form += "_" }
      form += letter == "-" ? "_" : letter.uppercased()
    }
  }
}

extension APIError {
  /// Returns a 404 `NOT_FOUND`. `what` is the whole message: what is missing, and where to find the available ones.
  public static func notFound(_ what: String) -> APIError { APIError(.notFound, "NOT_FOUND", what) }

  /// Returns a 422 with the field: a value is well-formed but not allowed.
  public static func validation(_ field: String, expected: String, got: String) -> APIError {
    APIError(.unprocessableContent, "VALIDATION", "\(field): expected \(expected), got \(got)", field: field)
  }

  /// Returns a 409: the request is valid but cannot be carried out now.
  public static func conflict(_ code: String, _ message: String) -> APIError { APIError(.conflict, code, message) }
}

extension APIError {
  /// The response that carries the error: `{"ok":false,"code":…,"message":…,"field":…}`.
  public var response: APIResponse {
    var response = APIResponse.json(
      Document(ok: false, code: code, message: message, field: field), status: status)
    response.headers = headers
    return response
  }

  private struct Document: Encodable {
    let ok: Bool
    let code: String
    let message: String
    let field: String?
  }
}

extension APIError {
  /// The `code` of every 503 whose cause is the store.
  public static let storeFailedCode = "STORE_FAILED"
  /// The `code` of the 409 of a request that a later stop has made void.
  static let overtakenCode = "OVERTAKEN"
  /// Whether a stop that was asked for later, and reached the loop before, has made the request void.
  public var isOvertaken: Bool { code == Self.overtakenCode }
  private static let unchanged = "nothing was changed: "

  /// Returns a 503: the change could not be written to the store.
  public static func storeFailed(_ error: StoreError) -> APIError {
    APIError(.serviceUnavailable, storeFailedCode, "\(unchanged)\(sentence(of: error))")
  }

  /// Returns a 503: the data that the request needs is in a store that could not be read.
  ///
  /// - Parameter failure: the result of reading the store, or `nil` if it has not been read yet. If the file could not
  ///   be opened, its own reason is used instead.
  public static func storeNotRead(_ file: StoreFile, _ failure: String?) -> APIError {
    let reason = file.trouble.map(sentence(of:)) ?? failure ?? "\(file.path): is being opened"
    return APIError(.serviceUnavailable, storeFailedCode, "the store could not be read: \(reason)")
  }

  /// Returns the failure and its remedy in words.
  static func sentence(of error: StoreError) -> String { "\(error); to go on: \(error.wayOut)" }

  /// The reason that the store gave, for an error made by `storeFailed`.
  public var storeReason: String {
    message.hasPrefix(Self.unchanged) ? String(message.dropFirst(Self.unchanged.count)) : message
  }
}

/// Returns the value that `read` reads from the store.
///
/// - Throws: 503 `STORE_FAILED` with the store's reason.
public func stored<Value>(_ read: () throws(StoreError) -> Value) throws(APIError) -> Value {
  do throws(StoreError) {
    return try read()
  } catch {
    throw APIError(.serviceUnavailable, APIError.storeFailedCode, APIError.sentence(of: error))
  }
}
