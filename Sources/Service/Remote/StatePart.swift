/// A part of a system whose state is published on a topic of its own, such as a leg or a zone.
public struct StatePart: Sendable, Equatable {
  /// The path of the topic below the system's topic: `zone/1`.
  public let path: String
  /// The state of the part, a JSON object.
  public let state: [UInt8]

  /// Encodes `state` at once; it must be encoded as a JSON object. A value that JSON cannot represent traps.
  public init(_ path: String, json state: some Encodable) { (self.path, self.state) = (path, encodeJSON(state)) }

  /// Makes a part whose state has been encoded as a JSON object already.
  public init(_ path: String, encoded state: [UInt8]) { (self.path, self.state) = (path, state) }
}
