import TactusDaemon

/// One system of a swarm: its declaration, and how its part is made.
public struct SwarmMember: Sendable {
  /// Makes the part for a seed.
  public typealias MakePart = @Sendable (_ seed: UInt64) throws -> any SwarmPart

  /// The system's name, as in `--systems`.
  let name: String
  let make: MakePart
  let system: any DeviceSystem.Type

  /// Makes the member of a declared system whose part comes from its declaration: random calls of its commands, its
  /// faults, and the invariants of its outputs.
  public init<System: DeviceSystem>(_ system: System.Type) {
    self.init(system) { try DeclaredSwarm<System>(seed: $0) }
  }

  /// Makes the member of a declared system with a part of its own, which knows the required values of its outputs.
  ///
  /// - Parameter part: makes the part for a seed; throws if the loops cannot be made with the defaults of all keys.
  public init<System: DeviceSystem>(_ system: System.Type, part: @escaping MakePart) {
    (name, make, self.system) = (System.name, part, system)
  }
}
