import Synchronization
import TactusDaemon

/// A program that plays random histories against the systems of a daemon, in simulated time.
///
///     // main.swift, the whole of it
///     SwarmProgram(name: "fan-swarm", systems: [Fan.self]).main()
///
/// It is a program beside the daemon's, for its developers: the daemon has nothing of it.
public struct SwarmProgram: Sendable {
  /// The command's name, in messages and in help.
  public let name: String
  /// What is played, in the order of every list.
  let members: [SwarmMember]

  /// - Parameters:
  ///   - name: of the program's file.
  ///   - systems: declared, each with the part that its declaration makes.
  ///   - members: systems with parts of their own; they stand before the others.
  public init(name: String, systems: [any DeviceSystem.Type] = [], members: [SwarmMember] = []) {
    self.name = name
    self.members = members + systems.map { Self.member($0) }
  }

  private static func member<System: DeviceSystem>(_ system: System.Type) -> SwarmMember { SwarmMember(system) }

  private static let running = Mutex<SwarmProgram?>(nil)

  /// The one that this process is, from `main` on.
  static var current: SwarmProgram {
    guard let program = running.withLock({ $0 }) else { preconditionFailure("no program runs yet") }
    return program
  }

  /// The daemon whose systems are played.
  var daemon: DaemonProgram {
    DaemonProgram(
      name: name, version: DaemonProgram.packageVersion, summary: "Plays random histories.",
      systems: members.compactMap(\.declared), own: members.compactMap(\.kind))
  }

  /// The same without the members whose loops cannot be made with the defaults of their keys.
  var playable: SwarmProgram { SwarmProgram(name: name, members: members.filter { (try? $0.make(1)) != nil }) }

  /// The parts of one seed.
  ///
  /// - Parameter chosen: names of systems; `nil` for all.
  func parts(_ chosen: [String]? = nil, seed: UInt64) throws -> [any SwarmPart] {
    try members.filter { chosen?.contains($0.name) ?? true }.map { try $0.make(seed) }
  }

  /// Makes this the program that the command line is of.
  func take() { Self.running.withLock { $0 = self } }

  /// Carries out the command line, and ends the process: 0 every invariant held, 1 one failed, 64 bad usage.
  public func main() -> Never {
    daemon.adopt()
    playable.take()
    SwarmCommand.main()
    SwarmCommand.exit()
  }
}
