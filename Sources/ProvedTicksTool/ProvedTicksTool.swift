import Foundation

/// The command `ProvedTicksTool OUTPUT FILE…`, which writes one function for each control loop in the files. The
/// function calls the loop's `tick`, `safeState` and `nextDeadline` and carries the attributes that the compiler
/// proves. The plugin `ProvedTicks` runs the command.
@main
enum ProvedTicksTool {
  /// The path of the documentation page, found relative to this source file.
  static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Tactus/Tactus.docc/WhatATickMayDo.md").path(percentEncoded: false)

  static func main() throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    var loops: [DeclaredLoop] = []
    var isComplete = true
    let paths = Array(arguments.dropFirst())
    let files = try paths.map { try String(contentsOfFile: $0, encoding: .utf8) }
    for (path, found) in zip(paths, DeclaredLoop.all(in: files)) {
      for loop in found {
        if let obstacle = loop.obstacle {
          print("\(path):\(loop.line):1: error: \(complaint(loop.name, obstacle))")
          isComplete = false
        } else if !loops.contains(where: { $0.name == loop.name }) {
          loops.append(loop)
        }
      }
    }
    guard isComplete else { exit(1) }
    try source(loops).write(toFile: arguments[0], atomically: true, encoding: .utf8)
  }

  static func complaint(_ name: String, _ obstacle: DeclaredLoop.Obstacle) -> String {
    switch obstacle {
    case .isPrivate: "the loop \(name) is private, where its tick cannot be proved: make it internal"
    case .isLocal: "the loop \(name) is declared in a function, where its tick cannot be proved: declare it outside"
    case .isGeneric:
      "the loop \(name) is generic, and the compiler proves concrete code alone: write it for the type it is used with"
    }
  }

  static func source(_ loops: [DeclaredLoop]) -> String {
    let promise = "@_noLocks @_noAllocation"
    var text = """
      // Made by the plugin ProvedTicks: one call of each loop's tick, safeState and nextDeadline, for the compiler to prove.
      // What a tick may do: \(page)

      """
    text += "import Tactus\n\n"
    for loop in loops {
      text += """
        \(promise)
        private func prove(_ loop: inout \(loop.name), _ tick: Tick, _ cause: SafeStateCause) {
          loop.tick(tick)  // Refused? Write \(promise) before tick of \(loop.name). See \(page)
          loop.safeState(tick, cause: cause)  // Refused? Write \(promise) before safeState of \(loop.name). See \(page)
          _ = loop.nextDeadline  // Refused? Write { \(promise) get { … } } as nextDeadline of \(loop.name). See \(page)
        }


        """
    }
    return text
  }
}
