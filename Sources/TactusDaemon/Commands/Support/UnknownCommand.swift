import ArgumentParser
import Service

/// A word in the place of a command that is not the name of any command.
struct UnknownCommand: Equatable, CustomStringConvertible {
  /// Returns a sentence about what to type for a word of another tool, such as systemctl, docker and mosquitto_sub, for the name of a system, and
  /// for a command of an earlier version; `nil` for any other word.
  private static func advice(for word: String) -> String? {
    let program = DaemonProgram.current
    let (name, call) = (program.name, "\(program.name) call")
    if program.kinds.contains(where: { $0.name == word }) {
      return "\(word) is a system: \(call) \(word) tells its state, \(call) lists its commands"
    }
    switch word.lowercased().filter(\.isLetter) {
    case "estop", "emergencystop", "halt", "stop", "off", "kill", "shutdown":
      return "\(call) e-stop stops everything that moves; systemctl stop \(name) ends the daemon"
    case "start", "up", "on", "daemon", "serve":
      return "\(name) run --config FILE starts a daemon here; systemctl start \(name) starts the installed one"
    case "restart":
      return "systemctl restart \(name) restarts the daemon; \(name) reload has it take a changed file while it runs"
    case "log", "journal", "tail": return "\(name) logs shows the newest log lines; with -f those that come, too"
    case "ps", "list", "ls", "systems", "show", "state", "info":
      return "\(name) status shows every system with its state; \(call) lists every command"
    case "sub", "subscribe", "watch", "monitor", "events":
      return "\(name) logs -f follows the log, \(name) top the figures; states come over MQTT and /ws"
    case "pub", "publish", "send", "get", "post", "put":
      return "\(call) lists every command; \(call) WORDS NAME=VALUE sends one, \(call) WORDS tells a state"
    case "config", "validate", "test": return "\(name) check FILE checks a configuration file"
    case "enable", "disable": return "systemctl \(word) \(name) is for the start with the machine"
    case "version": return "\(name) --version says it"
    case "swarm":
      return "the swarm is a program of its own, tactus-swarm, which is built from source: see docs/swarm.md"
    default: return nil
    }
  }

  let word: String
  /// The command before the word: `tactus token`.
  let parent: String
  /// The command that may have been meant, or else all commands available there; `none` if there are none.
  let known: String

  /// Returns the first unknown command of a command line, or `nil` if the line begins with known commands or with options.
  ///
  /// - Parameter words: the command line without the program's name.
  static func first(in words: [String], of root: any ParsableCommand.Type = TactusCommand.self) -> UnknownCommand? {
    var command = root
    var parent = root.configuration.commandName ?? ""
    // `help` takes the place of a command's own words: all that follow are commands.
    var isHelp = false
    for word in words {
      let children = command.configuration.subcommands
      guard !word.hasPrefix("-"), isHelp || !children.isEmpty else { return nil }
      if word == "help", !isHelp {
        isHelp = true
        continue
      }
      if let child = children.first(where: { $0.configuration.commandName == word }) {
        command = child
        parent += " " + word
        continue
      }
      // A default command takes other words: a file's name.
      if command.configuration.defaultSubcommand != nil, !isHelp { return nil }
      let names = children.filter { $0.configuration.shouldDisplay }.compactMap { $0.configuration.commandName }
      let known = nearestName(to: word, among: names).map { "\($0)?" } ?? names.joined(separator: ", ")
      return UnknownCommand(word: word, parent: parent, known: known.isEmpty ? "none" : known)
    }
    return nil
  }

  var description: String {
    if !parent.contains(" "), let sentence = Self.advice(for: word) { return "\(parent): \(sentence)" }
    return "\(parent): expected a command (\(known)), got \(word); \(parent) --help says more"
  }
}
