/// Why a command was refused: a tag for the protocol, and a field and a message for other interfaces.
public struct PlantRefusal: Error, Sendable, Hashable {
  public var tag: PlantErrorTag
  /// The field, for example `name`, `sensors` or `dryPercent`, or `nil` if the refusal concerns the command as a whole.
  public var field: String?
  public var message: String

  public init(_ tag: PlantErrorTag, field: String? = nil, _ message: String) {
    self.tag = tag
    self.field = field
    self.message = message
  }
}
