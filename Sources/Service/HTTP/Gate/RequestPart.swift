import HTTPTypes
import NIOCore
import Tactus

/// A part of a request, as the gate hands it on: a head with the instant at which its first byte was read, any number of pieces of the body, an end.
enum RequestPart: Sendable {
  case head(HTTPRequest, read: TickInstant)
  case body(ByteBuffer)
  case end
}

/// A part of an answer, as it is written to the gate: any number of interim heads, a head, any number of pieces of the body, an end.
enum ResponsePart: Sendable {
  case head(HTTPResponse)
  case body(ByteBuffer)
  case end
}
