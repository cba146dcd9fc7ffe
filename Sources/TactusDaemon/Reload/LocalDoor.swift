import Glibc
import Service
import Wire

/// The way into the running daemon's service for commands of its own account and of root: a file beside the safe-state plan with the address
/// in effect and an admin token of this start. So `systemctl reload` needs no token of a person's, and no port of a file that is being edited.
struct LocalDoor {
  /// What the file says.
  struct Contents: Equatable {
    /// `http://127.0.0.1:8000`
    let address: String
    let token: String
    /// SHA-256 of the certificate; `nil` without TLS.
    let fingerprint: String?
  }

  let path: String

  /// - Parameter plan: the safe-state plan's path.
  init(beside plan: String) { path = plan + "-door" }

  /// Of the unit that systemd runs this command for, else of the service `NAME`, whose folder is `/run/NAME`.
  init(environment: [String: String]) {
    let plan = SafeStatePlanFile(nil, environment: environment)?.path
    self.init(beside: plan ?? "/run/\(DaemonProgram.current.name)/safe-state")
  }

  /// A token that cannot be guessed: 256 random bits from the kernel, as hexadecimal digits.
  static func newToken() -> String {
    (0..<4).map { _ in
      let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Puts the file in place of the one of an earlier start, mode 0600.
  func leave(_ contents: Contents) throws(FileFailure) {
    let document: JSONValue = [
      "address": .text(contents.address), "token": .text(contents.token),
      "fingerprint": contents.fingerprint.map { .text($0) } ?? .null,
    ]
    try writeAtomically(document.bytes + [0x0A], to: path, mode: 0o600)
  }

  func remove() { unlink(path) }

  /// `nil` if there is none, or if this account may not read it.
  func read() -> Contents? {
    guard let bytes = try? readWhole(path), let document = JSONValue(json: bytes),
      let address = document["address"]?.string, let token = document["token"]?.string
    else { return nil }
    return Contents(address: address, token: token, fingerprint: document["fingerprint"]?.string)
  }
}
