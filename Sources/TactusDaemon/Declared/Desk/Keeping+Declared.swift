import Store

extension DeviceSystem {
  /// The use of the store by a declared system: its tables, and its kept fields and settings; `nil` if it has none of
  /// these.
  static var declaredKeeping: Keeping? {
    if let keeping = self as? any KeepsOwn.Type { return keeping.keeping }
    let tables = (Self.self as? any Keeps.Type)?.storedTables ?? []
    let keepsFields = fields.contains(where: \.isKept)
    let keepsValues = keepsFields || KeptRules<Self>.isNeeded
    guard !tables.isEmpty || keepsValues else { return nil }
    let prefix = name.replacing("-", with: "_") + "_"
    declared(
      tables.allSatisfy { $0.table.name.hasPrefix(prefix) }, "\(name): its tables' names begin with \(prefix)")
    let steps = Set(tables.flatMap { [$0.since] + $0.table.laterSteps }).sorted().map { step in
      StoreSystem.Migration(name: "\(name).\(step)") { database in
        for (since, table) in tables where since <= step {
          if since == step { try table.make(database) } else { try table.widen(to: step, database) }
        }
      }
    }
    return Keeping(
      tables: StoreSystem(
        contents: tables.map { $0.table.content(String($0.table.name.dropFirst(prefix.count))) }
          + (keepsValues ? [KeptValues.content(of: name)] : []),
        migrations: steps + (keepsValues ? [KeptValues.migration(of: name)] : []),
        restore: { database in for (_, table) in tables { try table.restore(database) } }), withoutIt: nil)
  }
}

/// Adopted by a system with tables that are older than `Table` or whose columns differ from those of a row. Such a
/// system has no kept fields.
public protocol KeepsOwn: DeviceSystem {
  /// The tables, and the functions that do not work without them.
  static var keeping: Keeping { get }
}

extension DeskMaterial where System: KeepsOwn {
  /// The program's store.
  public var storeFile: StoreFile {
    guard let file else { preconditionFailure("\(name): a system that keeps something has the store") }
    return file
  }
}
