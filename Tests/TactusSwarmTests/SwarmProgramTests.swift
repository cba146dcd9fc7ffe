import Tactus
import TactusDaemon
import Testing

@testable import TactusSwarm

/// What a package's own swarm is made of.
@Suite(.serialized) struct SwarmProgramTests {
  /// The lamp with a part of its own.
  private static let member = SwarmMember(Lamp.self) { _ in FakeSwarmPart() }

  @Test("a declared system takes part by its declaration, or with the part that it brings")
  func parts() throws {
    let declared = try SwarmProgram(name: "lamp-swarm", systems: [Lamp.self]).parts(seed: 1)
    #expect(declared.map(\.name) == ["lamp"] && declared[0] is DeclaredSwarm<Lamp>)
    let own = try SwarmProgram(name: "lamp-swarm", members: [Self.member]).parts(seed: 1)
    #expect(own.count == 1 && own[0] is FakeSwarmPart)
  }

  @Test(
    "members with parts of their own stand before the declared systems, and the daemon that is played has all of them")
  func order() throws {
    let program = SwarmProgram(name: "lamp-swarm", systems: [Lamp.self], members: [Self.member])
    #expect(try program.parts(seed: 1).map(\.name) == ["fake", "lamp"])
    #expect(program.daemon.name == "lamp-swarm" && program.daemon.systems.count == 2)
  }

  @Test(
    "a system whose loops cannot be made with the defaults of its keys takes no part; another one is played without it")
  func impossible() throws {
    struct Impossible: Error {}
    let broken = SwarmMember(Lamp.self) { _ in throw Impossible() }
    let program = SwarmProgram(name: "lamp-swarm", members: [broken, Self.member])
    #expect(try program.playable.parts(seed: 1).map(\.name) == ["fake"])
    #expect(program.playable.leftOut == ["lamp"] && program.leftOut == [])
  }

  @Test(
    "the command line: names are those of the program's systems, and what is out of range is refused with its range")
  func commandLine() throws {
    SwarmProgram(name: "lamp-swarm", systems: [Lamp.self]).adopt()
    #expect(try SwarmCommand.parse(["--systems", "lamp", "--seeds", "3"]).seeds == 3)
    #expect(SwarmCommand.helpMessage().contains("lamp-swarm"))
    for (words, expected) in [
      (["--systems", "kiln"], "--systems: expected lamp, got kiln."),
      (["--seeds", "0"], "--seeds: expected 1…1000000000, got 0."),
      (["--duration", "86401"], "--duration: expected 1…86400, got 86401."),
      (["--jobs", "257"], "--jobs: expected 1…256, got 257."),
    ] {
      #expect {
        try SwarmCommand.parse(words)
      } throws: {
        SwarmCommand.message(for: $0) == expected
      }
    }
  }
}
