import HTTPTypes
import NIOCore

/// A part of a request, as the gate hands it on: a head, any number of pieces of the body, an end.
enum RequestPart: Sendable {
  case head(HTTPRequest)
  case body(ByteBuffer)
  case end
}

/// A part of an answer, as it is written to the gate: any number of interim heads, a head, any number of pieces of the body, an end.
enum ResponsePart: Sendable {
  case head(HTTPResponse)
  case body(ByteBuffer)
  case end
}
