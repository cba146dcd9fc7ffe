extension ConfigKey {
  init<Group>(_ key: Key<Group>, _ path: String) {
    let doc = key.unit.describing(key.meaning) + (key.isRequired ? " It must be given." : "")
    self.init(path, key.kind, key.isRequired ? nil : key.standard, doc, mayChange: key.mayChange)
    // A key outside of the system's section may be left out by a file that has no such system.
    isRequired = key.isRequired && !key.name.contains(".")
    finds = key.finds
  }
}
