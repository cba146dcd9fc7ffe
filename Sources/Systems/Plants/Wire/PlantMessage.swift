/// One message of the Plant-Tracker protocol: `ID:0;sender:S;receiver:R;payload:P;operation:OP`.
///
/// The texts are UTF-8 of any length that fits `maximumLength`. Parsing and encoding allocate: not for ticks.
/// Source: requirement "Plant-Tracker", Formatting Operations.
public struct PlantMessage: Sendable, Hashable {
  /// A reply carries the request's.
  public var id: String
  public var sender: String
  public var receiver: String
  /// As its reader sees it: without the protocol's escapes.
  public var payload: String
  /// `REQ_…`, `RES_…` or `ERR_…`.
  public var operation: String

  /// Bytes of a message that is parsed, at most.
  public static let maximumLength = 4096

  public init(id: String = "0", sender: String, receiver: String, payload: String, operation: String) {
    self.id = id
    self.sender = sender
    self.receiver = receiver
    self.payload = payload
    self.operation = operation
  }

  /// The message as it goes on the wire. Total: separators inside a value are escaped, so that it always has its five parts.
  ///
  /// Parses back to the same message when its payload `survives` and the other texts hold no separator.
  public var encoded: String {
    var text = ""
    text.reserveCapacity(48 + id.utf8.count + sender.utf8.count + receiver.utf8.count + 2 * payload.utf8.count)
    text += "ID:"
    text += PlantPayload.escaped(id)
    text += ";sender:"
    text += PlantPayload.escaped(sender)
    text += ";receiver:"
    text += PlantPayload.escaped(receiver)
    text += ";payload:"
    text += PlantPayload.escaped(payload)
    text += ";operation:"
    text += PlantPayload.escaped(operation)
    return text
  }
}
