import NIOCore
import Tactus

/// An event with its sequence number, encoded as a WebSocket frame.
struct NumberedEvent: Sendable {
  let kind: Event.Kind
  let type: String
  let system: String
  let at: TickInstant
  let number: UInt64
  /// The complete frame: binary for an event of the kind `frame`, otherwise text.
  let frame: ByteBuffer
  /// The frames for clients that follow changes; `nil` if they get the same frame as all others.
  let followed: FollowedState?

  init(_ event: Event, number: UInt64, followed: FollowedState? = nil) {
    self.followed = followed
    (kind, type, system, at, self.number) = (event.kind, event.type, event.system, event.at, number)
    if case .frame = event.kind {
      frame = webSocketFrame(.binary, event.body)
    } else {
      frame = webSocketFrame(.text, Self.document(event, number: number))
    }
  }

  /// Returns `{"type":…,"system":…,"seq":…,"monotonicNs":…,` and the members of the body, without `seq` if `number` is `nil`.
  static func document(_ event: Event, number: UInt64?) -> [UInt8] {
    let body = event.body
    precondition(body.first == UInt8(ascii: "{") && body.last == UInt8(ascii: "}"), "a body that is no object")
    let sequence = number.map { #""seq":\#($0),"# } ?? ""
    let start =
      #"{"type":"\#(event.type)","system":"\#(event.system)",\#(sequence)"monotonicNs":\#(event.at.nanoseconds)"#
    var document = Array(start.utf8)
    if body.count > 2 { document.append(UInt8(ascii: ",")) }
    document += body.dropFirst()
    return document
  }
}
