import ArgumentParser

/// Adopted by a system with commands below `sim` that simulate a device in real time for other programs to connect to.
public protocol OffersSimulatedDevice: DeviceSystem {
  /// The commands. Each name must be unique among the simulated devices of the program.
  static var simulatedDevices: [any ParsableCommand.Type] { get }
}
