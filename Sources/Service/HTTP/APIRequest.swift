import Foundation

/// A request that has passed the door: its caller is known and allowed, its body is whole.
public struct APIRequest: Sendable {
  public let caller: Caller
  /// Values of the path's parameters, percent-decoded.
  public let parameters: [String: String]
  /// Of a repeated name the last counts.
  public let query: [String: String]
  /// At most 1 MB.
  public let body: [UInt8]

  public init(caller: Caller, parameters: [String: String] = [:], query: [String: String] = [:], body: [UInt8] = []) {
    self.caller = caller
    self.parameters = parameters
    self.query = query
    self.body = body
  }
}
