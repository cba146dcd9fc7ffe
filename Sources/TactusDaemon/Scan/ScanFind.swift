import Wire

/// One thing that a scan has found.
public struct ScanFind: Equatable, Sendable {
  /// A value for a key of the configuration file.
  struct Setting: Equatable, Sendable {
    /// The key, where an item of a list is `[]`.
    var key: String
    var value: String
  }
  /// The values to write so that a key uses the find: the key's own first, then those of related keys.
  typealias Settings = [Setting]

  var kind: ScanKind
  /// The place of the find as people and programs name it: a path or an address.
  var place: String
  /// The name that the device gives itself; empty if it gives none.
  var name: String
  /// The devices that the find may be, the likeliest first.
  var probably: [String] = []
  /// Further facts about the find, in the order in which people read them.
  var details: [String] = []
  /// The reason why the find cannot be used as it is, such as a program that has it open, or `nil` if it can.
  var trouble: String?
  /// The keys that the find can fill.
  var settings: [Settings] = []

  /// Makes a find. Control characters in the device's description of itself are left out.
  public init(kind: ScanKind, place: String, name: String, details: [String] = []) {
    (self.kind, self.place) = (kind, place)
    (self.name, self.details) = (Printable.text(name), details.map { Printable.text($0) })
  }

  /// The find as JSON, as docs/scan.md describes it.
  var json: JSONValue {
    .object([
      "place": .text(place), "name": .text(name), "probably": .list(probably.map { .text($0) }),
      "details": .list(details.map { .text($0) }), "trouble": trouble.map { .text($0) } ?? .null,
      "keys": .list(
        settings.map { settings in
          .list(settings.map { .object(["key": .text($0.key), "value": .text($0.value)]) })
        }),
    ])
  }
}

/// The result of a scan of one kind: the finds, and the places that were left out.
public struct ScanReport: Equatable, Sendable {
  /// The finds, in the order in which people read them.
  public var finds: [ScanFind]
  /// The places that were left out, with the reasons. If there are no finds, the first remark says why.
  public var remarks: [String]

  /// Makes a report from its finds and remarks.
  public init(finds: [ScanFind] = [], remarks: [String] = []) { (self.finds, self.remarks) = (finds, remarks) }

  /// The report as JSON, as docs/scan.md describes it.
  var json: JSONValue {
    .object(["finds": .list(finds.map(\.json)), "remarks": .list(remarks.map { .text($0) })])
  }
}

/// Cleans texts from outside (a name on the air, of a USB device, on the network) for terminals and the log.
enum Printable {
  /// Returns the text without control and formatting characters, at most 80 characters of it.
  static func text(_ text: String) -> String {
    let kept = text.unicodeScalars.filter { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
      default: true
      }
    }
    return String(String(String.UnicodeScalarView(kept)).prefix(80))
  }
}
