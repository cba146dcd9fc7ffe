import NIOCore
import Tactus

/// An event with its number, in its frame.
struct NumberedEvent: Sendable {
  let kind: Event.Kind
  let system: String
  let at: TickInstant
  let number: UInt64
  /// A whole text frame.
  let frame: ByteBuffer

  init(_ event: Event, number: UInt64) {
    (kind, system, at, self.number) = (event.kind, event.system, event.at, number)
    frame = webSocketFrame(.text, Self.document(event, number: number))
  }

  /// `{"type":…,"system":…,"seq":…,"monotonicNs":…,` and the members of the body.
  static func document(_ event: Event, number: UInt64) -> [UInt8] {
    let body = event.body
    precondition(body.first == UInt8(ascii: "{") && body.last == UInt8(ascii: "}"), "a body that is no object")
    let start =
      #"{"type":"\#(event.type)","system":"\#(event.system)","seq":\#(number),"#
      + #""monotonicNs":\#(event.at.nanoseconds)"#
    var document = Array(start.utf8)
    if body.count > 2 { document.append(UInt8(ascii: ",")) }
    document += body.dropFirst()
    return document
  }
}
