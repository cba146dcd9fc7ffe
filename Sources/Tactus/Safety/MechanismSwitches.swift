#if MECHANISM_SWITCHES
  import CTactus

  extension Mechanism {
    /// What this process does without: nothing, except in a test that shows what is needed.
    public static var removed: [Mechanism] { allCases.filter { !$0.acts } }
  }

  /// Called before main (Sources/CTactus/mechanisms.c) with what is in `TACTUS_WITHOUT`.
  @_cdecl("tactus_mechanisms_remove")
  func removeMechanisms(_ names: UnsafePointer<CChar>) {
    for name in String(cString: names).split(separator: ",") {
      guard let mechanism = Mechanism(rawValue: String(name)) else {
        let valid = Mechanism.allCases.map(\.rawValue).joined(separator: ", ")
        tactus_mechanisms_refuse("TACTUS_WITHOUT: there is no mechanism \(name); there are \(valid)\n")
        return
      }
      tactus_mechanism_remove(mechanism.number)
    }
  }
#else
  extension Mechanism {
    /// What this process does without: nothing, as this build has no switches.
    public static var removed: [Mechanism] { [] }
  }
#endif
