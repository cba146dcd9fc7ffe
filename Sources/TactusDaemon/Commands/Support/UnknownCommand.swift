import ArgumentParser
import Service

/// A word in the place of a command that is not the name of any command.
struct UnknownCommand: Equatable, CustomStringConvertible {
  /// The commands of earlier versions, each with a sentence about its replacement.
  private static let former = [
    "swarm": "the swarm is a program of its own, tactus-swarm, which is built from source: see docs/swarm.md"
  ]

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
    if !parent.contains(" "), let sentence = Self.former[word] { return "\(parent): \(sentence)" }
    return "\(parent): expected a command (\(known)), got \(word); \(parent) --help says more"
  }
}
