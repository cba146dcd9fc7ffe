import Service
import Wire

/// The keys of a list of mappings, without the type of its items.
struct KeyItems<Group: Settings>: Sendable {
  let most: Int
  /// The table's entries of an item below a path: `legs[]`. A key of an item is one that a reload may change if the list is, or if it says so itself.
  let table: @Sendable (_ path: String, _ mayChange: Bool) -> [ConfigKey]
  /// Makes the list of what a file gives; one that it does not give stays as it is.
  let fill: @Sendable (GivenValues, _ path: String, inout Group) -> Void
  /// The value of each key of each item: `legs[2].channel`.
  let values: @Sendable (Group, _ path: String) -> [(key: String, value: ConfigValue?)]
  /// What each item contradicts in itself.
  let contradictions: @Sendable (Group, _ path: String) -> [(key: String, message: String)]
  /// Gives each item the old value of every limit that is wider in it. Returns whether there was one.
  let tighten: @Sendable (inout Group, _ old: Group) -> Bool
  /// Reads the list out of a body, if it is there. Throws 422.
  let read: @Sendable (inout JSONReader, _ member: String, inout Group) throws(APIError) -> Void
  /// The list in a document.
  let json: @Sendable (Group) -> JSONValue
  /// JSON Schema of it.
  let schema: @Sendable () -> JSONValue

  init<Item: Settings>(_ list: WritableKeyPath<Group, [Item]> & Sendable, most: Int) {
    precondition(most >= 1, "a list has room for an item")
    precondition(Item.keys.allSatisfy { $0.items == nil }, "\(Item.self): an item of a list has no list")
    self.most = most
    table = { path, mayChange in
      Item.keys.map { ConfigKey(mayChange ? $0.reloadable : $0, "\(path)[].\($0.name)") }
    }
    fill = { given, path, group in
      guard let count = given.counts[path] else { return }
      group[keyPath: list] = (0..<count).map { Item(given, section: "\(path)[\($0)]") }
    }
    values = { group, path in
      group[keyPath: list].enumerated().flatMap { index, item in item.values { "\(path)[\(index)].\($0.name)" } }
    }
    contradictions = { group, path in
      group[keyPath: list].enumerated().flatMap { index, item in
        item.contradictions { "\(path)[\(index)].\($0.name)" }
      }
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

/// One item of a list in a body.
private struct ReadItem<Item: Settings>: JSONReadable, Sendable {
  var item = Item()

  init(_ body: inout JSONReader) throws(APIError) { try item.read(&body, Item.keys) }
}
