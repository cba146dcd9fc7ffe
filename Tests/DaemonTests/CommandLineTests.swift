import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import TactusDaemon

/// What the command line says of itself, and to somebody who mistypes.
@Suite("command line", .ownThread)
struct CommandLineTests {
  @Test("a mistyped command: what was meant; a command, an option, a file: none")
  func mistyped() {
    func said(_ words: String...) -> String? { UnknownCommand.first(in: words)?.description }
    #expect(said("chek", "a.yaml") == "tactus: expected a command (check?), got chek; tactus --help lists them")
    #expect(
      said("token", "crate") == "tactus token: expected a command (create?), got crate; tactus token --help lists them")
    #expect(said("zzzzzz") == "tactus: expected a command, got zzzzzz; tactus --help lists them")
    #expect(said("check", "a.yaml") == nil && said("--version") == nil && said("help", "run") == nil && said() == nil)
    #expect(said("sim", "pmup.yaml") == nil && said("token", "list") == nil)
  }

  @Test("tactus dirve: the suggestion, and status 64")
  func process() throws {
    let tactus = try TactusProcess(["dirve", "robot"])
    #expect(tactus.finish() == 64)
    #expect(tactus.said == "tactus: expected a command (drive?), got dirve; tactus --help lists them\n")
  }

  /// Every command with its help.
  private static let helps: [(String, String)] = {
    func all(_ command: any ParsableCommand.Type) -> [(String, String)] {
      [(command.configuration.commandName ?? "", command.helpMessage(includeHidden: true, columns: 200))]
        + command.configuration.subcommands.flatMap(all)
    }
    return all(TactusCommand.self)
  }()

  @Test("help: of every command, in words, no value of the program's own types")
  func help() throws {
    #expect(Self.helps.count > 12)
    let code = try Regex(#"\b[A-Z]\w*\([^)]*:|Optional|nanoseconds"#)
    for (name, text) in Self.helps { #expect(text.firstMatch(of: code) == nil, "\(name): \(text)") }
    #expect(Self.helps.first { $0.0 == "top" }?.1.contains("(default: 1s)") == true)
  }

  @Test("a narrow terminal: nothing is cut, parts stay together, what follows is indented")
  func wrapped() {
    #expect(TerminalText.wrapped("stick   left 0   right 0", width: 40, indent: 8) == ["stick   left 0   right 0"])
    #expect(
      TerminalText.wrapped(
        "robot   left  +30.0%  right  +30.0%   E-STOP: the operator   command 12 ms old", width: 39, indent: 8)
        == ["robot   left  +30.0%  right  +30.0%", "        E-STOP: the operator", "        command 12 ms old"])
    for width in 20...80 {
      let text = "link      telemetry 10.0 Hz, 12 ms old   1234 sent, 1234 received, 3 not sent, 5 malformed"
      let lines = TerminalText.wrapped(text, width: width, indent: 10)
      #expect(lines.allSatisfy { $0.count <= width }, "\(lines)")
      let words = lines.joined(separator: " ").split(separator: " ")
      #expect(words == text.split(separator: " "), "\(lines)")
    }
  }
}
