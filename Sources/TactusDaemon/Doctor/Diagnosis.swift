/// The result of one check of `doctor`.
public struct Diagnosis: Equatable, Sendable {
  /// The severity of a result; the raw value is the word in JSON. A single `fail` makes `doctor` exit with a failure.
  public enum Status: String, Equatable, Sendable {
    /// Nothing needs to be done.
    case ok
    /// The checked part works, but worse or later than it could.
    case warn
    /// The result prevents real-time operation, or keeps a system of the file from working.
    case fail
  }

  var name: String
  var status: Status
  /// The observation that the check has made.
  var found: String
  /// The reason why the observation matters.
  var why: String
  /// The exact command or the advice that fixes the problem, or `nil` if nothing needs fixing.
  var fix: String?

  /// Makes the result of a check with its observation and the reason why that matters.
  ///
  /// - Parameter fix: the exact command or the advice that fixes the problem, or `nil` if nothing needs fixing.
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

  /// The result in a few lines for a terminal, in which no value of the configuration makes another line or moves the cursor.
  var text: String {
    let mark = status == .ok ? "ok  " : status == .warn ? "warn" : "FAIL"
    var lines = ["\(mark)  \(name): \(found)"]
    if status != .ok { lines.append("        why: \(why)") }
    if let fix { lines.append("        fix: \(fix)") }
    return lines.map(JSONLine.inOneLine).joined(separator: "\n")
  }
}
