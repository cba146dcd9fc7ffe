import Confinement
import Glibc

extension Configuration {
  private static let accountKey = "runtime.user"

  /// What is wrong with the account whatever the machine is. Whether the machine has it is left to the start and to `doctor`: the file may
  /// be meant for another machine.
  func accountErrors(_ places: ConfigPlaces) -> [ConfigError] {
    guard let user, user != "root", !confine else { return [] }
    return [
      places.error(
        file, Self.accountKey,
        "expected runtime.confine: true, since a program that changes its account gives up the rest, too")
    ]
  }

  /// The account that a program has to become that runs as `current`: `nil` if it stays what it is.
  ///
  /// - Throws: there is no such account, or only root could become it. A simulation that is not root's stays what it is.
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
