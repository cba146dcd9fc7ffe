import Buses

/// The actions of the peer of a simulated link: the body of `POST /api/sim/link/{name}`.
struct SimulatedPeer: JSONReadable {
  /// Whether the peer connects (`true`) or disconnects (`false`), or `nil` if its connection does not change.
  let isThere: Bool?
  /// The message that the peer writes afterwards, or `nil` if it writes none.
  let message: [UInt8]?

  /// Reads the body of a request.
  ///
  /// - Throws: 422 with the field for a member that is unknown or wrong, or if both members are missing.
  init(_ body: inout JSONReader) throws(APIError) {
    isThere = try body.optional("connected", .boolean)
    let text = try body.optional("message", .text(2...2 * MessageLink.mostBytes))
    message = try text.map { text throws(APIError) in
      guard let bytes = Hexadecimal.bytes(text) else {
        throw .validation("message", expected: "bytes of two digits 0…9, a…f each", got: "\"\(text.prefix(40))\"")
      }
      return bytes
    }
    guard isThere != nil || message != nil else {
      throw .validation("connected", expected: "connected, message or both", got: "neither")
    }
  }
}
