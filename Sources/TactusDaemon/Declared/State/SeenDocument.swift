import Service
import Tactus
import Wire

/// Makes documents from the fields of a system, which read either its snapshot or the value of `Sees.seen`. Safe to use
/// from any thread.
struct SeenDocument<System: DeviceSystem>: Sendable {
  let shapes: [FieldShape]
  /// Returns the version of the look; see `Sees.version`.
  let version: @Sendable (Look<System>) -> UInt64
  private let read: @Sendable (Published<System.State>, Look<System>) -> [FieldValue]

  init() {
    if let seeing = System.self as? any Sees.Type {
      self = Self.seen(by: seeing)
    } else {
      self.init(System.fields) { published, _ in published.state }
    }
  }

  private static func seen<Seeing: Sees>(by _: Seeing.Type) -> SeenDocument { of(Seeing.self, Seeing.seenFields) }

  static func of<Seeing: Sees>(_: Seeing.Type, _ fields: [Field<Seeing.Seen>]) -> SeenDocument {
    // The two types are the same, so the cast succeeds.
    let version: @Sendable (Look<System>) -> UInt64 = { Seeing.version($0 as! Look<Seeing>) }
    return SeenDocument(fields, version: version) { published, look in
      Seeing.seen(published as! Published<Seeing.State>, look as! Look<Seeing>)
    }
  }

  private init<Seen>(
    _ fields: [Field<Seen>], version: @escaping @Sendable (Look<System>) -> UInt64 = { _ in 0 },
    _ see: @escaping @Sendable (Published<System.State>, Look<System>) -> Seen
  ) {
    let document = StateDocument(of: System.name, fields)
    shapes = document.shapes
    self.version = version
    read = { document.values(of: see($0, $1)) }
  }

  /// Whether any field is in the telemetry, which is sent ten times a second.
  var hasTelemetry: Bool { shapes.contains { if case .always = $0.when { true } else { false } } }

  func values(of published: Published<System.State>, _ look: Look<System>) -> [FieldValue] { read(published, look) }

  /// Returns the state as a JSON object.
  ///
  /// - Parameter first: the members that precede those of the fields.
  func json(
    _ published: Published<System.State>, _ look: Look<System>, after first: [JSONValue.Member] = []
  ) -> [UInt8] {
    JSONValue.object(first + shapes.members(read(published, look))).bytes
  }

  /// Returns the JSON object without the fields that only the state contains.
  func telemetry(_ published: Published<System.State>, _ look: Look<System>) -> [UInt8] {
    JSONValue.object(shapes.members(read(published, look), isTelemetry: true)).bytes
  }

  /// Returns each value together with its path.
  func leaves(of published: Published<System.State>, _ look: Look<System>) -> [FieldLeaf] {
    shapes.leaves(read(published, look))
  }

  /// Returns the value of a top-level field, or `nil` if there is no such field or its value is not a text.
  func text(_ name: String, of published: Published<System.State>, _ look: Look<System>) -> String? {
    guard let index = shapes.firstIndex(where: { $0.name == name }),
      case .plain(.text(let text)?) = read(published, look)[index]
    else { return nil }
    return text
  }
}
