import Store

extension DeviceSystem {
  /// How a declared system uses the store: its tables, and its kept fields, or `nil` if it has neither.
  static var declaredKeeping: Keeping? {
    let tables = (Self.self as? any Keeps.Type)?.storedTables ?? []
    let keepsFields = fields.contains(where: \.isKept)
    precondition(!keepsFields || Self.self is any Resumes.Type, "\(name): a kept field is given back by `Resumes`")
    guard !tables.isEmpty || keepsFields else { return nil }
    let prefix = name.replacing("-", with: "_") + "_"
    precondition(
      tables.allSatisfy { $0.table.name.hasPrefix(prefix) }, "\(name): its tables' names begin with \(prefix)")
    let steps = Set(tables.map(\.since)).sorted().map { step in
      StoreSystem.Migration(name: "\(name).\(step)") { database in
        for (since, table) in tables where since == step { try table.make(database) }
      }
    }
    return Keeping(
      tables: StoreSystem(migrations: steps + (keepsFields ? [KeptValues.migration(of: name)] : [])) { database in
        for (_, table) in tables { try table.restore(database) }
      }, withoutIt: nil)
  }
}
