import ArgumentParser
import Service

/// A word where a command is expected, and that none has.
struct UnknownCommand: Equatable, CustomStringConvertible {
  let word: String
  /// `tactus token`
  let parent: String
  /// What may have been meant.
  let meant: String?

  /// - Parameter words: the command line without the program. `nil` if it begins with commands that there are, or with options.
  init?(_ words: [String], of root: any ParsableCommand.Type = TactusCommand.self) {
    var (command, parent) = (root, root.configuration.commandName ?? "")
    for word in words {
      let children = command.configuration.subcommands
      guard !children.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
      if let child = children.first(where: { $0.configuration.commandName == word }) {
        (command, parent) = (child, "\(parent) \(word)")
        continue
      }
      let names = children.filter { $0.configuration.shouldDisplay }.compactMap(\.configuration.commandName)
      let meant = nearestName(to: word, among: names)
      // A default command takes other words: a file's name.
      if command.configuration.defaultSubcommand != nil { return nil }
      (self.word, self.parent, self.meant) = (word, parent, meant)
      return
    }
    return nil
  }

  var description: String {
    "\(parent): expected a command" + (meant.map { " (\($0)?)" } ?? "") + ", got \(word); \(parent) --help lists them"
  }
}
