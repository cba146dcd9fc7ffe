import ArgumentParser
import Service
import Tactus

/// The command `tactus notify`.
struct NotifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notify", abstract: "Messages to people: tries the receivers of a file.", subcommands: [Test.self])

  /// The command `tactus notify test`.
  struct Test: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "test",
      abstract: "Sends a test message to a receiver, or to all, and says what each answered.",
      discussion: """
        It reads the file as the daemon does, secrets from the environment and from files too, and needs no running daemon. \
        What a running daemon has said, and what waits, is in GET /api/notices.
        Exit status: 0 every receiver took it, 1 one did not, 64 bad usage, 78 bad configuration file.
        """)

    @Argument(help: "The receiver's name. Unless given: every receiver.")
    var receiver: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("The configuration file (YAML).", valueName: "file"))
    var config: String

    func run() throws {
      guard var notify = try readConfiguration(config).notify else {
        complain("\(config): expected a section notify, got none")
        throw ExitCode.badConfig
      }
      do throws(ConfigError) {
        try notify.readSecrets()
      } catch {
        complain("\(error)")
        throw ExitCode.badConfig
      }
      let chosen = notify.receivers.filter { receiver == nil || $0.name == receiver }
      guard !chosen.isEmpty else {
        let names = notify.receivers.map(\.name).joined(separator: ", ")
        throw ValidationError("Expected a receiver of the file (\(names)), got \(receiver ?? "a file without any").")
      }
      var allTook = true
      for one in chosen {
        let outcome = NoticeSender(receiver: one).send(.test(for: one.name))
        if case .sent(let answer) = outcome {
          print("\(one.name): taken: \(answer)")
        } else {
          complain("\(one.name): not taken: \(outcome.words)")
          allTook = false
        }
      }
      if !allTook { throw ExitCode.failure }
    }
  }
}

extension NoticeMessage {
  /// Returns a test message for a receiver.
  fileprivate static func test(for receiver: String) -> NoticeMessage {
    let name = HostRules.machineName
    return NoticeMessage(
      id: "test-" + String(UInt64.random(in: .min ... .max), radix: 36), receiver: receiver, stage: .happened,
      condition: .test, seconds: 0, times: 0, missing: 0, timeISO: WallTimeText.text(.now),
      host: name.isEmpty ? "this machine" : name)
  }
}
