import Synchronization
import TactusDaemon

/// A program that plays random histories against the systems of a daemon, in simulated time.
///
///     // A complete main.swift:
///     SwarmProgram(name: "fan-swarm", systems: [Fan.self]).main()
///
/// The program is separate from the daemon and meant for its developers; the daemon does not contain it.
public struct SwarmProgram: Sendable {
  /// The command's name, in messages and in help.
  public let name: String
  /// The systems that are played, in the order of every list.
  let members: [SwarmMember]
  /// The names of the systems that are not played, since their loops cannot be made with the defaults of their keys.
  private(set) var leftOut: [String] = []

  /// Makes a swarm program.
  ///
  /// - Parameters:
  ///   - name: the name of the program's file.
  ///   - systems: declared systems, each with the part that is derived from its declaration.
  ///   - members: systems with parts of their own; they precede the others.
  public init(name: String, systems: [any DeviceSystem.Type] = [], members: [SwarmMember] = []) {
    self.name = name
    self.members = members + systems.map { Self.member($0) }
  }

  private static func member<System: DeviceSystem>(_ system: System.Type) -> SwarmMember { SwarmMember(system) }

  private static let running = Mutex<SwarmProgram?>(nil)

  /// The program of this process, set by `main`.
  static var current: SwarmProgram {
    guard let program = running.withLock({ $0 }) else { preconditionFailure("no program runs yet") }
    return program
  }

  /// The daemon whose systems are played.
  var daemon: DaemonProgram {
    DaemonProgram(
      name: name, version: DaemonProgram.packageVersion, summary: "Plays random histories.",
      systems: members.map(\.system))
  }

  /// The same program without the members whose loops cannot be made with the defaults of their keys.
  var playable: SwarmProgram {
    let played = members.map { (try? $0.make(1)) != nil }
    var program = SwarmProgram(name: name, members: zip(members, played).filter(\.1).map(\.0))
    program.leftOut = zip(members, played).filter { !$0.1 }.map(\.0.name)
    return program
  }

  /// Returns the parts for one seed.
  ///
  /// - Parameter chosen: the names of the systems, or `nil` for all.
  func parts(_ chosen: [String]? = nil, seed: UInt64) throws -> [any SwarmPart] {
    try members.filter { chosen?.contains($0.name) ?? true }.map { try $0.make(seed) }
  }

  /// Makes this program the `current` one.
  func adopt() { Self.running.withLock { $0 = self } }

  /// Carries out the command line and ends the process with status 0 if every invariant held, 1 if one failed or
  /// something was never exercised in many seeds, or 64 for bad usage.
  public func main() -> Never {
    daemon.adopt()
    playable.adopt()
    SwarmCommand.main()
    SwarmCommand.exit()
  }
}

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
