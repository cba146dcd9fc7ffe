extension ConfigKey {
  init<Group>(_ key: Key<Group>, _ path: String) {
    self.init(path, key.kind, key.standard, key.unit.describing(key.meaning), mayChange: key.mayChange)
    finds = key.finds
  }
}
