import Foundation

/// Why something did not happen.
public enum ClientError: Error, Equatable, Sendable, LocalizedError {
  /// The daemon has answered that it does not do it. What it was asked for has not happened.
  case refused(Refusal)
  /// There was no answer. Whether the daemon did what it was asked for is not known.
  case unreachable(String)
  /// There was an answer that this client does not understand.
  case unintelligible(String)
  /// What the app has given is wrong; nothing was sent.
  case invalid(field: String, message: String)

  /// The error in a sentence, for people.
  public var errorDescription: String? {
    switch self {
    case .refused(let refusal): refusal.message
    case .unreachable(let reason): "The daemon cannot be reached: \(reason)"
    case .unintelligible(let reason): "The daemon's answer is not understood: \(reason)"
    case .invalid(let field, let message): "\(field): \(message)"
    }
  }

  /// The daemon's code, as `VALIDATION`; `nil` unless it has refused.
  public var code: String? {
    if case .refused(let refusal) = self { refusal.code } else { nil }
  }

  /// The value that was wrong, as `zones[2].minutes`; `nil` if none is named.
  public var field: String? {
    switch self {
    case .refused(let refusal): refusal.field
    case .invalid(let field, _): field
    case .unreachable, .unintelligible: nil
    }
  }
}

/// A request that the daemon has refused, in its own words.
public struct Refusal: Codable, Equatable, Sendable {
  /// The status of HTTP.
  public var status: Int
  /// What went wrong, for programs; it stays the same from release to release.
  public var code: String
  /// What went wrong, for people.
  public var message: String
  /// The value that was wrong; `nil` if none is named.
  public var field: String?

  /// Whether the token is missing, wrong or not allowed to: trying again helps only with another one.
  public var isAboutTheToken: Bool { status == 401 || status == 403 && code.hasPrefix("TOKEN") }

  /// Creates a refusal.
  public init(status: Int, code: String, message: String, field: String? = nil) {
    self.status = status
    self.code = code
    self.message = message
    self.field = field
  }

  /// Reads the answer to a failed request. What is no answer of the daemon, as a proxy's page, keeps its status.
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
