/// One message of the Plant-Tracker protocol: `ID:0;sender:S;receiver:R;payload:P;operation:OP`.
///
/// The texts are UTF-8 of any length that fits `maximumLength`. Parsing and encoding allocate memory, so they must not be used in ticks. Source:
/// requirement "Plant-Tracker", Formatting Operations.
public struct PlantMessage: Sendable, Hashable {
  /// The number of the message; a reply has the number of its request.
  public var id: String
  public var sender: String
  public var receiver: String
  /// The payload without the protocol's escapes.
  public var payload: String
  /// The operation: `REQ_…`, `RES_…` or `ERR_…`.
  public var operation: String

  /// The largest number of bytes of a message that is parsed.
  public static let maximumLength = 4096

  public init(id: String = "0", sender: String, receiver: String, payload: String, operation: String) {
    self.id = id
    self.sender = sender
    self.receiver = receiver
    self.payload = payload
    self.operation = operation
  }

  /// The message in the form in which it is transmitted. Total: separators in a value are escaped, so that the message always has its five parts.
  ///
  /// Parsing returns the same message if its payload `survives` and the other texts contain no separator.
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
