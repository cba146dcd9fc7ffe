/// Adopted by a system whose state before the first tick depends on its file, for example on the number of legs and
/// their names.
public protocol PreparesState: DeviceSystem {
  /// Returns the state before the first tick, in place of `initialState`. The values have no contradictions.
  static func initialState(_ wiring: Wiring, _ rules: Rules) -> State
}

extension PreparesState {
  /// The state before the first tick with the defaults of all keys.
  public static var initialState: State { initialState(Wiring(), Rules()) }

  fileprivate static func first(_ wiring: any Settings, _ rules: any Settings) -> State {
    guard let wiring = wiring as? Wiring, let rules = rules as? Rules else {
      preconditionFailure("\(self): values of another system")
    }
    return initialState(wiring, rules)
  }
}

extension DeviceSystem {
  /// Returns the state before the first tick for the values of a file.
  static func firstState(_ wiring: Wiring, _ rules: Rules) -> State {
    guard let preparing = self as? any PreparesState.Type else { return initialState }
    // The two are one type.
    return preparing.first(wiring, rules) as! State
  }
}
