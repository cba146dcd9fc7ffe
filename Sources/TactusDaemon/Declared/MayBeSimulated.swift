/// Adopted by a system whose file can ask for the simulated hardware while the rest of the program is real: `backend: sim`.
public protocol MayBeSimulated: DeviceSystem {
  /// Whether the file asks for it. Nothing is claimed but UDP ports, and nothing left to the guard then.
  static func isSimulated(_ wiring: Wiring) -> Bool
}

extension MayBeSimulated {
  /// Of values of this system, without their type.
  static func isSimulatedBy(_ wiring: any Settings) -> Bool { (wiring as? Wiring).map { isSimulated($0) } ?? false }
}
