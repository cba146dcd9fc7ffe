extension Doctor {
  /// Whether the daemon can give up what it does not need: `docs/privileges.md`.
  func confinement() -> [Diagnosis] {
    guard let version = machine.landlockVersion else { return [] }
    func finding(_ found: String, fix: String? = nil) -> [Diagnosis] {
      [
        Diagnosis(
          name: "confinement", status: fix == nil ? .ok : .warn, found: found,
          why: "what takes commands from a network keeps no right that it does not need", fix: fix)
      ]
    }
    if configuration?.confine == false {
      return finding("switched off", fix: "remove runtime.confine from the file")
    }
    switch version {
    case ..<1:
      return finding(
        "no Landlock: files are not confined",
        fix: "a kernel of 5.13 or later with CONFIG_SECURITY_LANDLOCK, and landlock in lsm= of its command line")
    case ..<6: return finding("Landlock \(version), which does not confine signals")
    default: return finding("Landlock \(version)")
    }
  }
}
