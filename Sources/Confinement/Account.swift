import CProcess
import Glibc

/// An account of the machine's user database.
public struct Account: Sendable, Equatable {
  /// The name of the account in the user database.
  public let name: String
  /// The number of the user.
  public let user: uid_t
  /// The number of the user's first group.
  public let group: gid_t
  /// The home folder of the user.
  public let home: String

  /// Looks up an account by its name. The result is `nil` if the machine has no such account.
  public init?(named name: String) {
    guard let entry = getpwnam(name) else { return nil }
    self.init(entry)
  }

  /// The account of this process, with its number as the name if the database does not contain it.
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

  /// Changes this root process to the account permanently, with all its groups: `process_become`. The function must be called by
  /// the only thread of the process, before it has opened anything. Returns 0, or −errno, after which the process should end.
  public func become() -> Int32 { process_become(name) }

  /// Returns the environment of a process that was started as root, with the variables that identify the user changed to this account.
  public func environment(from root: [String: String]) -> [String: String] {
    var result = root
    for name in Self.foldersOfOthers { result[name] = nil }
    return result.merging(["HOME": home, "USER": name, "LOGNAME": name]) { $1 }
  }

  /// Changes this process's environment as `environment` does; see there.
  public func changeEnvironment() {
    for name in Self.foldersOfOthers { unsetenv(name) }
    for (name, value) in environment(from: [:]) { setenv(name, value, 1) }
  }

  private static let foldersOfOthers = ["XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"]
}
