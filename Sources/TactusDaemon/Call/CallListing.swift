/// Lists the commands of a daemon by system, one a line.
enum CallListing {
  static func text(_ daemon: CallDescription) -> String {
    var lines: [String] = []
    for group in daemon.groups {
      let commands = daemon.operations.filter { $0.group == group && $0.method == "POST" && !$0.takesFile }
      guard !commands.isEmpty else { continue }
      lines.append(group)
      lines += commands.flatMap { command in command.forms.map { "  " + line(command, $0) } }
    }
    return lines.joined(separator: "\n")
  }

  /// Returns the line of a command: `zone/ID(1…64) on [minutes=NUMBER(0.02…1440)]  # Open a zone for some minutes.`
  private static func line(_ command: CallDescription.Operation, _ form: CallForm) -> String {
    let words = [path(command)] + form.fields.map(\.usage) + (command.wholeBody.map { [":=\($0)"] } ?? [])
    let summary = form.summary ?? command.summary
    let text = words.joined(separator: " ") + (summary.isEmpty ? "" : "  # \(summary)")
    return JSONLine.inOneLine(text)
  }

  /// Returns the path as words. A parameter is joined to the segment before it: `plants sensors/SENSOR calibrate`.
  private static func path(_ command: CallDescription.Operation) -> String {
    let isBelowAPI = command.segments.first == "api"
    var text = isBelowAPI ? "" : "/"
    for segment in command.segments.dropFirst(isBelowAPI ? 1 : 0) {
      let isParameter = CallDescription.isParameter(segment)
      if !text.isEmpty, text != "/" { text += isParameter || !isBelowAPI ? "/" : " " }
      let name = segment.dropFirst().dropLast()
      let described = command.pathParameters.first { $0.name == name }
      text += isParameter ? described?.placeholder ?? name.uppercased() : segment
    }
    return text
  }
}

extension CallParameter {
  /// The name and the range of a path parameter: `ID(1…64)`.
  fileprivate var placeholder: String {
    let limits = summary.firstIndex(of: "(").map { summary[$0...] } ?? ""
    return name.uppercased() + limits
  }
}
