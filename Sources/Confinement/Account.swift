import CProcess
import Glibc

/// An account of this machine, as its user database has it.
public struct Account: Sendable, Equatable {
  /// As the user database has it.
  public let name: String
  /// The user's number.
  public let user: uid_t
  /// The number of its first group.
  public let group: gid_t
  /// Its home folder.
  public let home: String

  /// `nil` if the machine has no such account.
  public init?(named name: String) {
    guard let entry = getpwnam(name) else { return nil }
    self.init(entry)
  }

  /// The one that this process belongs to; of a number without an account the name is the number.
  public static var current: Account {
    let user = geteuid()
    return getpwuid(user).map { Account($0) } ?? Account(name: "\(user)", user: user, group: getegid(), home: "/")
  }

  private init(name: String, user: uid_t, group: gid_t, home: String) {
    (self.name, self.user, self.group, self.home) = (name, user, group, home)
  }

  private init(_ entry: UnsafeMutablePointer<passwd>) {
    func text(_ field: UnsafeMutablePointer<CChar>?) -> String { field.map { String(cString: $0) } ?? "" }
    self.init(
      name: text(entry.pointee.pw_name), user: entry.pointee.pw_uid, group: entry.pointee.pw_gid,
      home: text(entry.pointee.pw_dir))
  }

  /// Makes this root process the account's for good, with all its groups: `process_become`. To be called by its only thread, before it has
  /// opened anything. Returns 0 or −errno, after which the process should end.
  public func become() -> Int32 { process_become(name) }

  /// The environment of a process that was started as root, with what says who it is as this account has it.
  public func environment(from root: [String: String]) -> [String: String] {
    var result = root
    for name in Self.foldersOfOthers { result[name] = nil }
    return result.merging(["HOME": home, "USER": name, "LOGNAME": name]) { $1 }
  }

  /// Changes this process's environment in the same way.
  public func changeEnvironment() {
    for name in Self.foldersOfOthers { unsetenv(name) }
    for (name, value) in environment(from: [:]) { setenv(name, value, 1) }
  }

  private static let foldersOfOthers = ["XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"]
}
