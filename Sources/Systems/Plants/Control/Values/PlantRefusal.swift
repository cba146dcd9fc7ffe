/// Why a command was not carried out: the tag for the protocol, the field and the words for everybody else.
public struct PlantRefusal: Error, Sendable, Hashable {
  public var tag: PlantErrorTag
  /// `name`, `sensors`, `dryPercent` and so on, or `nil` for the command as such.
  public var field: String?
  public var message: String

  public init(_ tag: PlantErrorTag, field: String? = nil, _ message: String) {
    self.tag = tag
    self.field = field
    self.message = message
  }
}
