import Service
import Wire

/// The keys of a list of mappings, without the type of its items.
struct KeyItems<Group: Settings>: Sendable {
  let most: Int
  /// The table's entries of an item below a path: `legs[]`.
  let table: @Sendable (_ path: String, _ mayChange: Bool) -> [ConfigKey]
  /// Makes the list of what a file gives; one that it does not give stays as it is.
  let fill: @Sendable (GivenValues, _ path: String, inout Group) -> Void
  /// What each item contradicts in itself.
  let contradictions: @Sendable (Group, _ path: String) -> [(key: String, message: String)]
  /// Reads the list out of a body, if it is there. Throws 422.
  let read: @Sendable (inout JSONReader, _ member: String, inout Group) throws(APIError) -> Void
  let json: @Sendable (Group) -> JSONValue
  let schema: @Sendable () -> JSONValue

  init<Item: Settings>(_ list: WritableKeyPath<Group, [Item]> & Sendable, most: Int) {
    precondition(most >= 1, "a list has room for an item")
    precondition(Item.keys.allSatisfy { $0.items == nil }, "\(Item.self): an item of a list has no list")
    self.most = most
    table = { path, mayChange in
      Item.keys.map { key in
        ConfigKey(
          "\(path)[].\(key.name)", key.kind, key.standard, key.unit.describing(key.meaning), mayChange: mayChange)
      }
    }
    fill = { given, path, group in
      guard let count = given.counts[path] else { return }
      group[keyPath: list] = (0..<count).map { Item(given, section: "\(path)[\($0)]") }
    }
    contradictions = { group, path in
      group[keyPath: list].enumerated().flatMap { index, item in
        item.contradictions.map { ("\(path)[\(index)].\($0.key)", $0.message) }
      }
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
