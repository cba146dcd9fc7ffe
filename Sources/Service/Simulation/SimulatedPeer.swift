import Buses

/// What the other end of a simulated link is to do: the body of `POST /api/sim/link/{name}`.
struct SimulatedPeer: JSONReadable {
  /// Whether the peer connects or disconnects, or `nil` if it does neither.
  let isThere: Bool?
  /// The message that the peer writes after that, or `nil` if it writes none.
  let message: [UInt8]?

  /// - Throws: 422 with the field for anything unknown, wrong or nothing at all.
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
