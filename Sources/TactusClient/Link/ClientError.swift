import Foundation

/// The reason why a request failed.
public enum ClientError: Error, Equatable, Sendable, LocalizedError {
  /// The daemon has refused the request, which therefore had no effect.
  case refused(Refusal)
  /// No answer was received. Whether the request had an effect is unknown.
  case unreachable(String)
  /// An answer was received that this client cannot decode.
  case unintelligible(String)
  /// An argument given by the app is invalid. Nothing was sent.
  case invalid(field: String, message: String)

  /// The error in one sentence, for people.
  public var errorDescription: String? {
    switch self {
    case .refused(let refusal): refusal.message
    case .unreachable(let reason): "The daemon cannot be reached: \(reason)"
    case .unintelligible(let reason): "The daemon's answer is not understood: \(reason)"
    case .invalid(let field, let message): "\(field): \(message)"
    }
  }

  /// The daemon's code, such as `VALIDATION`, or `nil` if the error is not a refusal.
  public var code: String? {
    if case .refused(let refusal) = self { refusal.code } else { nil }
  }

  /// The name of the invalid value, such as `zones[2].minutes`, or `nil` if none is named.
  public var field: String? {
    switch self {
    case .refused(let refusal): refusal.field
    case .invalid(let field, _): field
    case .unreachable, .unintelligible: nil
    }
  }
}

/// The daemon's refusal of a request.
public struct Refusal: Codable, Equatable, Sendable {
  /// The HTTP status of the answer.
  public var status: Int
  /// The reason as a code for programs, which is stable across releases.
  public var code: String
  /// The reason as a sentence for people.
  public var message: String
  /// The name of the invalid value, or `nil` if none is named.
  public var field: String?

  /// Whether the token is missing, wrong or lacks the permission, so that only another token helps.
  public var isAboutTheToken: Bool { status == 401 || status == 403 && code.hasPrefix("TOKEN") }

  /// Creates a refusal.
  public init(status: Int, code: String, message: String, field: String? = nil) {
    self.status = status
    self.code = code
    self.message = message
    self.field = field
  }

  /// Decodes the answer to a failed request. An answer that is not the daemon's, such as a proxy's page, keeps its status.
  init(_ answer: ClientAnswer) {
    struct Body: Decodable {
      var code: String
      var message: String
      var field: String?
    }
    if let body = try? JSONDecoder().decode(Body.self, from: answer.body) {
      self.init(status: answer.status, code: body.code, message: body.message, field: body.field)
    } else {
      self.init(status: answer.status, code: "HTTP_\(answer.status)", message: "HTTP status \(answer.status)")
    }
  }
}
