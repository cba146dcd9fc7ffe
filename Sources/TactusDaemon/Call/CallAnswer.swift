import Service
import Wire

/// The result of a call to a daemon, for people and scripts.
struct CallAnswer: Equatable {
  /// The text for standard output, or `nil` if nothing is printed there.
  var output: String?
  /// The text for standard error, or `nil` if the call succeeded.
  var complaint: String?

  /// Makes the result from a daemon's answer.
  ///
  /// - Parameters:
  ///   - command: the command as the user wrote it.
  ///   - isCompact: whether JSON is printed in one line.
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

  /// Makes the result of a call that received no answer.
  init(_ failure: ServiceClient.Failure, of address: ServiceAddress, isCommand: Bool) {
    complaint =
      switch failure {
      case .timedOut where isCommand:
        "\(address): no answer in time: whether it was done is not known, and it may still be done later"
      default: failure.sentence(of: address)
      }
  }

  /// Returns the complaint about an emergency stop of which nobody knows whether it stopped everything, for the given reason.
  static func unconfirmedStop(_ reason: String) -> String {
    "E-STOP is NOT CONFIRMED: \(reason). What still moves can only be stopped by its power switch."
  }
}
