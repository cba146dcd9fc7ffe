/// Adopted by a system whose file can select simulated hardware (`backend: sim`) while the rest of the program is real.
public protocol MayBeSimulated: DeviceSystem {
  /// Returns whether the file selects simulated hardware. In that case the system claims only UDP ports, and the guard
  /// has no outputs of the system.
  static func isSimulated(_ wiring: Wiring) -> Bool
}

extension MayBeSimulated {
  /// Returns whether values of this system, passed without their type, select simulated hardware.
  static func isSimulatedBy(_ wiring: any Settings) -> Bool { (wiring as? Wiring).map { isSimulated($0) } ?? false }
}
