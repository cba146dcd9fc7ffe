import ArgumentParser
import Service

/// A word where a command is expected, and that none has.
struct UnknownCommand: Equatable, CustomStringConvertible {
  let word: String
  /// `tactus token`
  let parent: String
  /// What may have been meant.
  let meant: String?

  init(word: String, parent: String, meant: String?) {
    self.word = word
    self.parent = parent
    self.meant = meant
  }

  /// - Parameter words: the command line without the program. `nil` if it begins with commands that there are, or with options.
  static func first(in words: [String], of root: any ParsableCommand.Type = TactusCommand.self) -> UnknownCommand? {
    var command = root
    var parent = root.configuration.commandName ?? ""
    for word in words {
      let children = command.configuration.subcommands
      guard !children.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
      if let child = children.first(where: { $0.configuration.commandName == word }) {
        command = child
        parent += " " + word
        continue
      }
      // A default command takes other words: a file's name.
      if command.configuration.defaultSubcommand != nil { return nil }
      let names = children.filter { $0.configuration.shouldDisplay }.compactMap { $0.configuration.commandName }
      return UnknownCommand(word: word, parent: parent, meant: nearestName(to: word, among: names))
    }
    return nil
  }

  var description: String {
    "\(parent): expected a command" + (meant.map { " (\($0)?)" } ?? "") + ", got \(word); \(parent) --help lists them"
  }
}
