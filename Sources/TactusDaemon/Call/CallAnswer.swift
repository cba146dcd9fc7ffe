import Service
import Wire

/// What a daemon answered to a call, for people and scripts.
struct CallAnswer: Equatable {
  /// For standard output.
  var output: String?
  /// For standard error, or `nil` if it was done.
  var complaint: String?

  /// - Parameters:
  ///   - command: as it was written.
  ///   - isCompact: JSON in one line.
  init(
    status: Int, body: [UInt8], to command: String, of address: ServiceAddress, hasToken: Bool, isCompact: Bool
  ) {
    let document = JSONValue(json: body)
    guard !(200..<300).contains(status) else {
      let text = document.map { isCompact ? $0.compact : $0.indented } ?? String(decoding: body, as: UTF8.self)
      output = text.isEmpty ? nil : text
      return
    }
    let code = document?["code"]?.string
    let message = document?["message"]?.string
    let field = document?["field"]?.string.map { ", field \($0)" } ?? ""
    let reason = code.map { code in " (\(code)\(message.map { ": \($0)" } ?? ""))" } ?? ""
    complaint =
      switch (status, code) {
      case (401, _) where !hasToken: "\(address) asks for a token: set TACTUS_TOKEN or give --token-file FILE\(reason)"
      case (401, _): "\(address) does not accept this token\(reason)"
      case (403, _): "\(command): \(address) does not allow this\(reason)"
      case (_, let code?): "\(command): \(message ?? "refused") (\(code)\(field))"
      default: "\(command): \(address) answers with status \(status): is it \(DaemonProgram.current.name)?"
      }
  }

  /// No answer.
  init(_ failure: ServiceClient.Failure, of address: ServiceAddress, isCommand: Bool) {
    let program = DaemonProgram.current.name
    complaint =
      switch failure {
      case .unreachable:
        "\(address): \(failure): expected a running daemon there; start one with \(program) run --config FILE, or say "
          + "where it is with --host and --port"
      case .timedOut where isCommand: "\(address): no answer in time: whether it was done is not known"
      default: "\(address): \(failure)"
      }
  }
}
