/// A part of a system whose state is published separately where topics have levels: a leg, a zone.
public struct StatePart: Sendable, Equatable {
  /// Below the system: `zone/1`.
  public let path: String
  /// A JSON object.
  public let state: [UInt8]

  /// Encodes `state` at once, which must give a JSON object. A value that JSON cannot represent stops the program.
  public init(_ path: String, json state: some Encodable) { (self.path, self.state) = (path, encodeJSON(state)) }

  /// A part whose state is encoded already, as a JSON object.
  public init(_ path: String, encoded state: [UInt8]) { (self.path, self.state) = (path, state) }
}
