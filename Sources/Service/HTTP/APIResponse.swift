import Foundation
import HTTPTypes

/// What a handler answers.
public struct APIResponse: Sendable {
  public var status: HTTPResponse.Status
  public var contentType: String
  public var headers: HTTPFields
  public var body: [UInt8]
  /// What the action's log line says was done: `left=30 right=30`; nil for mere looks.
  public var logValue: String?
  /// Members of that line of their own: `zoneId`, `minutes`.
  public var logFields: [String: String] = [:]
  /// What follows `body`, piece by piece, for what is too long to be in memory or has no end; nil from it: the end. Not with
  /// `body`. Let go of when the client has gone, which shows at the next piece.
  public var pieces: (@Sendable () async throws -> [UInt8]?)?

  public init(
    _ status: HTTPResponse.Status = .ok, contentType: String, headers: HTTPFields = [:], body: [UInt8],
    logValue: String? = nil
  ) {
    (self.status, self.contentType, self.headers, self.body, self.logValue) = (
      status, contentType, headers, body, logValue
    )
  }

  /// JSON with sorted keys; non-finite numbers are our bug.
  public static func json(
    _ value: some Encodable, status: HTTPResponse.Status = .ok, logValue: String? = nil
  ) -> APIResponse {
    APIResponse(status, contentType: "application/json", body: encodeJSON(value), logValue: logValue)
  }
}

/// The one way this module writes JSON: sorted keys, no escaped slashes.
package func encodeJSON(_ value: some Encodable) -> [UInt8] {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  do {
    return Array(try encoder.encode(value))
  } catch {
    preconditionFailure("a document that JSON cannot carry: \(error)")
  }
}

/// `{"ok":true}`
package struct DoneDocument: Encodable {
  package let ok = true

  package init() {}
}

/// The status of an answer.
package typealias HTTPStatus = HTTPResponse.Status
