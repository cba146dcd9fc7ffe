import HTTPTypes
import NIOCore
import Tactus

/// The requests that arrive on one connection: each request's head, then the pieces of its body. It is to be used by one task at a time.
final class ArrivingRequests {
  private var parts: NIOAsyncChannelInboundStream<RequestPart>.AsyncIterator
  /// Whether more of the present request's body may arrive.
  private var isInBody = false

  init(_ parts: NIOAsyncChannelInboundStream<RequestPart>) { self.parts = parts.makeAsyncIterator() }

  /// The instant at which the first byte of the present request was read from the socket.
  private(set) var read = TickInstant.zero

  /// Waits for the next request, and returns its head, or `nil` when the connection has ended. The rest of the previous request's body is discarded.
  func nextHead() async throws -> HTTPRequest? {
    while let part = try await parts.next() {
      guard case .head(let head, let read) = part else { continue }
      self.read = read
      isInBody = true
      return head
    }
    return nil
  }

  /// Waits for the next piece of the present request's body, and returns it, or `nil` behind the last one.
  ///
  /// - Throws: `ChannelError.inputClosed` if the connection ends within the body.
  func nextPiece() async throws -> ByteBuffer? {
    guard isInBody else { return nil }
    switch try await parts.next() {
    case .body(let piece): return piece
    case .end:
      isInBody = false
      return nil
    case .head, nil: throw ChannelError.inputClosed
    }
  }
}
