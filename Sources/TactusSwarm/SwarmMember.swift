import TactusDaemon

/// One system of a swarm: what it is, and its part.
public struct SwarmMember: Sendable {
  /// Makes the part of one seed.
  public typealias MakePart = @Sendable (_ seed: UInt64) throws -> any SwarmPart

  /// The system's, as `--systems` has it.
  let name: String
  let make: MakePart
  /// Exactly one of the two is there.
  let declared: (any DeviceSystem.Type)?
  let kind: (any SystemKind)?

  /// A declared system, whose part comes from its declaration: random calls of its commands and its faults, and what must always hold of its outputs.
  public init<System: DeviceSystem>(_ system: System.Type) {
    self.init(system) { try DeclaredSwarm<System>(seed: $0) }
  }

  /// A declared system that has a part of its own: one that knows what its outputs must be.
  ///
  /// - Parameter part: makes the part of a seed; it throws if the loops cannot be made with the defaults of all keys.
  public init<System: DeviceSystem>(_ system: System.Type, part: @escaping MakePart) {
    (name, make, declared, kind) = (System.name, part, system, nil)
  }

  /// A system at the lower door, with its part.
  ///
  /// - Parameter part: makes the part of a seed.
  public init(_ kind: any SystemKind, part: @escaping MakePart) {
    (name, make, declared, self.kind) = (kind.name, part, nil, kind)
  }
}
