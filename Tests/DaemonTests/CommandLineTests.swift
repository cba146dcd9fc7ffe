import ArgumentParser
import DaemonSupport
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
    #expect(said("chek", "a.yaml") == "tactus: expected a command (check?), got chek; tactus --help says more")
    #expect(
      said("token", "crate") == "tactus token: expected a command (create?), got crate; tactus token --help says more")
    #expect(said("swarm", "--seeds", "3")?.hasPrefix("tactus: the swarm is a program of its own, tactus-swarm") == true)
    #expect(said("token", "swarm")?.hasPrefix("tactus token: expected a command (create") == true)
    #expect(said("zzzzzz")?.hasPrefix("tactus: expected a command (run, drive, leg, ") == true)
    #expect(said("check", "a.yaml") == nil && said("--version") == nil && said("help", "run") == nil && said() == nil)
    #expect(said("help", "zones")?.hasSuffix("guard), got zones; tactus --help says more") == true)
    #expect(said("help", "token", "crate")?.hasPrefix("tactus token: expected a command (create?), got crate") == true)
    #expect(said("help", "call", "x") == "tactus call: expected a command (none), got x; tactus call --help says more")
    #expect(said("help", "token", "create") == nil && said("help") == nil && said("help", "--version") == nil)
    #expect(said("sim", "pmup.yaml") == nil && said("token", "list") == nil)
  }

  @Test("check: newlines and control characters of the file are told, and not printed")
  func controlCharacters() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let right = try folder.write(
      #"""
      service: { auth: none, bonjour: false }
      store: { folder: "/tmp/a\nb\e[2J" }
      pump: { device: "/dev/tty\nUSB0\e[2J" }
      """#, to: "right.yaml")
    let checked = try TactusProcess(["check", right])
    #expect(checked.finish() == 0, "\(checked.said)")
    #expect(checked.said.contains("\n  pump on " + #"/dev/tty\nUSB0\u001b[2J at "#), "\(checked.said)")
    #expect(checked.said.contains(#"  store: /tmp/a\nb\u001b[2J/"#), "\(checked.said)")
    #expect(!checked.said.contains("\u{1B}"))
    let wrong = try folder.write(#"service: { auth: "no\nne\e[2J" }"#, to: "wrong.yaml")
    let refused = try TactusProcess(["check", wrong])
    #expect(refused.finish() == 78, "\(refused.said)")
    #expect(refused.said.contains(#"got 'no\nne\u001b[2J'"#), "\(refused.said)")
    #expect(!refused.said.contains("\u{1B}"))
  }

  @Test("what a start prints: newlines and control characters of the file are told, and not printed")
  func controlCharactersOfStart() throws {
    let configuration = try read(#"pump: { device: "/dev/tty\nUSB0\e[2J" }"#)
    let said = WhatToTry.text(
      program: "a\u{1B}b", configuration: configuration, simulated: false, endpoints: [:], service: nil)
    let lines = said.split(separator: "\n")
    #expect(lines.count == 2 && lines[1].hasPrefix("Ctrl-C stops "), "\(said)")
    #expect(lines[0].contains(#": pump on /dev/tty\nUSB0\u001b[2J at "#), "\(said)")
    #expect(!said.contains("\u{1B}"))
  }

  @Test(
    "a word of another tool, in any case, or a system's name: what to type here, and no guess",
    arguments: [
      ("stop", "tactus call e-stop stops everything that moves; systemctl stop tactus ends the daemon"),
      ("E-STOP", "tactus call e-stop stops"), ("start", "tactus run --config FILE"), ("restart", "tactus reload"),
      ("log", "tactus logs shows"), ("ps", "tactus status shows"), ("list", "tactus call lists"),
      ("version", "tactus --version"), ("sub", "tactus logs -f"), ("pub", "tactus call WORDS NAME=VALUE"),
      ("enable", "systemctl enable tactus"), ("robot", "tactus call robot tells its state"),
    ])
  func otherTools(word: String, part: String) throws {
    let said = try #require(UnknownCommand.first(in: [word])).description
    #expect(said.hasPrefix("tactus: ") && said.contains(part) && !said.contains("?"), "\(said)")
  }

  @Test("tactus dirve: the suggestion, and status 64")
  func process() throws {
    let tactus = try TactusProcess(["dirve", "robot"])
    #expect(tactus.finish() == 64)
    #expect(tactus.said == "tactus: expected a command (drive?), got dirve; tactus --help says more\n")
  }

  @Test(
    "the configuration file: with --config, -c or alone; twice, or not where it is needed: status 64",
    arguments: [
      (["check", "-c", "A"], 78), (["check", "--config", "A"], 78), (["check", "A"], 78),
      (["check", "-c", "A", "B"], 64),
      (["run", "A"], 78), (["run", "-c", "A"], 78), (["run", "A", "--config", "B"], 64), (["run"], 64),
      (["doctor", "A"], 78), (["doctor", "-c", "A"], 78), (["doctor", "A", "-c", "B"], 64),
      (["setup", "pi", "A"], 78), (["setup", "pi", "-c", "A"], 78), (["guard", "--once", "A"], 78),
      (["guard", "--once", "-c", "A"], 78), (["guard", "--once"], 64), (["token", "list", "A"], 78),
      (["token", "list", "-c", "A"], 78), (["token", "create", "--name", "x", "A", "-c", "B"], 64),
      (["token", "create", "--name", "x", "A", "--token-file", "B"], 64),
    ] as [([String], Int32)])
  func configurationFile(arguments: [String], status: Int32) throws {
    let tactus = try TactusProcess(
      arguments.map { $0.count == 1 ? "/nonexistent/\($0).yaml" : $0 })
    #expect(tactus.finish() == status, "\(tactus.said)")
    if status == 78 { #expect(tactus.said.contains("/nonexistent/A.yaml")) }
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
