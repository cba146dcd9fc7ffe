import NIOCore
import Tactus

/// An event with its number, in its frame.
struct NumberedEvent: Sendable {
  let kind: Event.Kind
  let type: String
  let system: String
  let at: TickInstant
  let number: UInt64
  /// A whole text frame; a binary one of a `frame`.
  let frame: ByteBuffer

  init(_ event: Event, number: UInt64) {
    (kind, type, system, at, self.number) = (event.kind, event.type, event.system, event.at, number)
    if case .frame = event.kind {
      frame = webSocketFrame(.binary, event.body)
    } else {
      frame = webSocketFrame(.text, Self.document(event, number: number))
    }
  }

  /// `{"type":…,"system":…,"seq":…,"monotonicNs":…,` (without `seq` where there is no number) and the members of the body.
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
