import Glibc
import Service
import Wire

/// The local access to the running daemon's service for commands of its own account and of root: a file beside the
/// safe-state plan with the address in effect and an admin token of this start. With this file `systemctl reload` needs
/// neither a user's token nor the port from a configuration that is being edited.
struct LocalAccessFile {
  /// The contents of the file.
  struct Contents: Equatable {
    /// The address of the service: `http://127.0.0.1:8000`.
    let address: String
    let token: String
    /// The SHA-256 of the certificate, or `nil` without TLS.
    let fingerprint: String?
  }

  let path: String

  /// Creates the value for the file beside a safe-state plan.
  ///
  /// - Parameter plan: the path of the safe-state plan.
  init(beside plan: String) { path = plan + "-door" }

  /// Creates the value for the file of the unit for which systemd runs this command, or else of the service `NAME`,
  /// whose folder is `/run/NAME`.
  init(environment: [String: String]) {
    let plan = SafeStatePlanFile(nil, environment: environment)?.path
    self.init(beside: plan ?? "/run/\(DaemonProgram.current.name)/safe-state")
  }

  /// Returns a token that cannot be guessed: 256 random bits from the kernel, as hexadecimal digits.
  static func newToken() -> String {
    (0..<4).map { _ in
      let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Writes the file with mode 0600 and replaces that of an earlier start.
  func write(_ contents: Contents) throws(FileFailure) {
    let document: JSONValue = [
      "address": .text(contents.address), "token": .text(contents.token),
      "fingerprint": contents.fingerprint.map { .text($0) } ?? .null,
    ]
    try writeAtomically(document.bytes + [0x0A], to: path, mode: 0o600)
  }

  func remove() { unlink(path) }

  /// Returns the contents of the file, or `nil` if there is no file or this account may not read it.
  func read() -> Contents? {
    guard let bytes = try? readWhole(path), let document = JSONValue(json: bytes),
      let address = document["address"]?.string, let token = document["token"]?.string
    else { return nil }
    return Contents(address: address, token: token, fingerprint: document["fingerprint"]?.string)
  }
}
