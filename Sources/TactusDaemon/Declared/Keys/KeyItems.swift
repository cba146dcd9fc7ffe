import Service
import Wire

/// The keys of a list of mappings, without the type of its items.
struct KeyItems<Group: Settings>: Sendable {
  let most: Int
  /// The names of the item's keys that are declared `kept`. This is an error, because the keys of a list cannot be kept.
  let kept: [String]
  /// The name and the kind of each key of the item.
  let kinds: [(name: String, kind: ConfigKind)]
  /// Returns the table entries for the keys of an item below a path such as `legs[]`. A reload may change a key of an
  /// item if it may change the list, or if the key itself is reloadable.
  let table: @Sendable (_ path: String, _ mayChange: Bool) -> [ConfigKey]
  /// Sets the list from the values of a file; a list that the file does not give stays unchanged.
  let fill: @Sendable (GivenValues, _ path: String, inout Group) -> Void
  /// Returns the value of each key of each item, such as `legs[2].channel`.
  let values: @Sendable (Group, _ path: String) -> [(key: String, value: ConfigValue?)]
  /// Returns the path and the text of each key of a kind that has a value, in each item.
  let texts: @Sendable (Group, _ path: String, ConfigKind) -> [(key: String, text: String)]
  /// Returns the path in the file of an item's property, such as `lamps[2].line` for `\.lamps[2].line`; `nil` if it is not a property of an item.
  let path: @Sendable (Group, _ path: String, PartialKeyPath<Group>) -> String?
  /// Returns the contradictions within each item.
  let contradictions: @Sendable (Group, _ path: String) -> [(key: String, message: String)]
  /// Returns the keys of each item whose values are wrong regardless of all other values.
  let wrongKeys: @Sendable (Group, _ path: String) -> [(key: String, message: String)]
  /// Returns the keys of each item that the file must give and that still have their initial values.
  let missingKeys: @Sendable (Group, _ path: String) -> [(key: String, message: String)]
  /// Replaces every limit that is wider than in the corresponding old item by the old value. Returns whether any limit
  /// was replaced.
  let tighten: @Sendable (inout Group, _ old: Group) -> Bool
  /// Reads the list from the body of a request if the body contains it. Throws an `APIError` with status 422 if the
  /// list is invalid.
  let read: @Sendable (inout JSONReader, _ member: String, inout Group) throws(APIError) -> Void
  /// Returns the list as JSON for a document.
  let json: @Sendable (Group) -> JSONValue
  /// Returns the JSON Schema of the list.
  let schema: @Sendable () -> JSONValue

  init<Item: Settings>(_ list: WritableKeyPath<Group, [Item]> & Sendable, most: Int) {
    declared(most >= 1, "a list has room for an item")
    declared(Item.keys.allSatisfy { $0.items == nil }, "\(Item.self): an item of a list has no list")
    (self.most, kept) = (most, Item.keys.filter(\.isKept).map(\.name))
    kinds = Item.keys.map { ($0.name, $0.kind) }
    table = { path, mayChange in
      Item.keys.flatMap { ConfigKey.entries(mayChange ? $0.reloadable : $0, "\(path)[].\($0.name)") }
    }
    fill = { given, path, group in
      guard let count = given.counts[path] else { return }
      group[keyPath: list] = (0..<count).map { Item(given, section: "\(path)[\($0)]") }
    }
    values = { group, path in
      group[keyPath: list].enumerated().flatMap { index, item in item.values { "\(path)[\(index)].\($0.name)" } }
    }
    texts = { group, path, kind in
      group[keyPath: list].enumerated().flatMap { index, item in
        item.texts(of: kind) { "\(path)[\(index)].\($0.name)" }
      }
    }
    path = { group, path, property in
      for index in group[keyPath: list].indices {
        let item: PartialKeyPath<Group> = list.appending(path: \[Item][index])
        let key = Item.keys.first { item.appending(path: $0.path() as AnyKeyPath) == property }
        if let key { return "\(path)[\(index)].\(key.name)" }
      }
      return nil
    }
    contradictions = { group, path in
      group[keyPath: list].enumerated().flatMap { index, item in
        item.contradictions { "\(path)[\(index)].\($0.name)" }
      }
    }
    wrongKeys = { group, path in
      group[keyPath: list].enumerated().flatMap { index, item in item.wrongKeys { "\(path)[\(index)].\($0.name)" } }
    }
    missingKeys = { group, path in
      group[keyPath: list].enumerated().flatMap { index, item in item.missingKeys { "\(path)[\(index)].\($0.name)" } }
    }
    tighten = { group, old in
      var isTighter = false
      for (index, item) in old[keyPath: list].enumerated() where index < group[keyPath: list].count {
        let tightened = group[keyPath: list][index].tightened(from: item)
        group[keyPath: list][index] = tightened.settings
        isTighter = isTighter || tightened.isTighter
      }
      return isTighter
    }
    read = { (body, member, group) throws(APIError) in
      let kind = JSONKind.list(of: JSONKind.object(ReadItem<Item>.self), 0...most)
      if let items = try body.optional(member, kind) { group[keyPath: list] = items.map(\.item) }
    }
    json = { .list($0[keyPath: list].map { .object($0.members) }) }
    schema = {
      .object([
        "type": .text("array"), "maxItems": .whole(most), "items": .closedObject(Item.memberSchemas, required: []),
      ])
    }
  }
}

/// One item of a list as read from the body of a request.
private struct ReadItem<Item: Settings>: JSONReadable, Sendable {
  var item = Item()

  init(_ body: inout JSONReader) throws(APIError) { try item.read(&body, Item.keys) }
}
