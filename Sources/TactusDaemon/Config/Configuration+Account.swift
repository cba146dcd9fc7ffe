import Confinement
import Glibc

extension Configuration {
  private static let accountKey = "runtime.user"

  /// Returns the errors of the account that do not depend on the host. Whether the host has the account is checked at
  /// the start and by `doctor`, because the file may be meant for another host.
  func accountErrors(_ places: ConfigPlaces) -> [ConfigError] {
    guard let user, user != "root", !confine else { return [] }
    return [
      places.error(
        file, Self.accountKey,
        "expected runtime.confine: true, since a program that changes its account gives up the rest, too")
    ]
  }

  /// Returns the account to which a program that runs as `current` must change, or `nil` if it keeps its account.
  ///
  /// - Throws: an error if there is no such account, or if only root could change to it. A simulation that root has not started keeps its account.
  func account(
    from current: Account, simulate: Bool, _ places: ConfigPlaces, find: (String) -> Account? = Account.init(named:)
  ) throws(ConfigError) -> Account? {
    guard let user, user != current.name else { return nil }
    guard current.user == 0 || !simulate else { return nil }
    guard let account = find(user) else {
      throw places.error(file, Self.accountKey, "expected an account of this machine, got \(user)")
    }
    guard account.user != current.user else { return nil }
    guard current.user == 0 else {
      throw places.error(
        file, Self.accountKey,
        "expected \(current.name), who has started this program: only root can become \(user), so start it with sudo "
          + "or remove the key")
    }
    return account
  }
}
