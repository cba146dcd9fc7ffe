#if MECHANISM_SWITCHES
  import CTactus

  extension Mechanism {
    /// The mechanisms that are switched off in this process: none, except in a test that shows that a mechanism is needed.
    public static var removed: [Mechanism] { allCases.filter { !$0.acts } }
  }

  /// Switches off the mechanisms whose names are in `TACTUS_WITHOUT`. The function is called before main (Sources/CTactus/mechanisms.c).
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
    /// The mechanisms that are switched off; empty, because this build has no switches.
    public static var removed: [Mechanism] { [] }
  }
#endif
