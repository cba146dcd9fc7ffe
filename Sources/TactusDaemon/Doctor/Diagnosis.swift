/// One thing `doctor` looked at.
public struct Diagnosis: Equatable, Sendable {
  /// How bad it is; the raw value is the word in JSON. One `fail` makes `doctor` exit with a failure.
  public enum Status: String, Equatable, Sendable {
    /// Nothing needs to be done.
    case ok
    /// Works, but worse or later than it could.
    case warn
    /// Prevents real-time operation, or a system of the file from working.
    case fail
  }

  var name: String
  var status: Status
  /// What was found.
  var found: String
  /// Why it matters.
  var why: String
  /// The exact command, or what to do; nil when nothing needs fixing.
  var fix: String?

  /// What was looked at, what was found, and why it matters.
  ///
  /// - Parameter fix: the exact command, or what to do, or `nil` if nothing needs fixing.
  public init(name: String, status: Status, found: String, why: String, fix: String? = nil) {
    self.name = name
    self.status = status
    self.found = found
    self.why = why
    self.fix = fix
  }
}

extension Diagnosis {
  var json: String {
    var line = JSONLine()
    line.add("name", name)
    line.add("status", status.rawValue)
    line.add("found", found)
    line.add("why", why)
    if let fix { line.add("fix", fix) }
    return line.text
  }

  /// A few lines for a terminal.
  var text: String {
    let mark = status == .ok ? "ok  " : status == .warn ? "warn" : "FAIL"
    var lines = ["\(mark)  \(name): \(found)"]
    if status != .ok { lines.append("        why: \(why)") }
    if let fix { lines.append("        fix: \(fix)") }
    return lines.joined(separator: "\n")
  }
}
