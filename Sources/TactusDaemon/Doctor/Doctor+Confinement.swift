import Confinement
import Glibc

extension Doctor {
  /// Checks whether the daemon can give up the privileges that it does not need; see `docs/privileges.md`.
  func confinement() -> [Diagnosis] {
    guard let version = machine.landlockVersion else { return [] }
    func finding(_ found: String, fix: String? = nil) -> [Diagnosis] {
      [
        Diagnosis(
          name: "confinement", status: fix == nil ? .ok : .warn, found: found,
          why: "what takes commands from a network keeps no right that it does not need", fix: fix)
      ]
    }
    if configuration?.confine == false {
      return finding("switched off", fix: "remove runtime.confine from the file")
    }
    switch version {
    case ..<1:
      return finding(
        "no Landlock: files are not confined",
        fix: "a kernel of 5.13 or later with CONFIG_SECURITY_LANDLOCK, and landlock in lsm= of its command line")
    case ..<6: return finding("Landlock \(version), which does not confine signals")
    default: return finding("Landlock \(version)")
    }
  }

  /// Checks whether the account of `runtime.user` exists and which paths it cannot access. A process of root changes to
  /// that account for this check.
  static func account(of configuration: Configuration) -> [Diagnosis] {
    let name = "account"
    let why = "what the program cannot open once it is that account, it cannot use"
    guard let wanted = configuration.user else {
      guard Account.current.user == 0, configuration.confine else { return [] }
      return [
        Diagnosis(
          name: name, status: .ok, found: "started by root the program stays root: runtime.user names another account",
          why: "root without privileges is still the owner of most files", fix: nil)
      ]
    }
    guard let account = Account(named: wanted) else {
      return [
        Diagnosis(
          name: name, status: .fail, found: "no account \(wanted)", why: why,
          fix: "sudo useradd --system --groups dialout \(wanted), or another name in runtime.user")
      ]
    }
    guard Account.current.user == 0, account.user != 0 else {
      return [
        Diagnosis(name: name, status: .ok, found: "\(wanted); as root doctor looks at its files", why: why, fix: nil)
      ]
    }
    guard account.become() == 0 else {
      return [
        Diagnosis(
          name: name, status: .fail, found: "root cannot become \(wanted) here", why: why, fix: "remove runtime.user")
      ]
    }
    let options = Daemon.Options(
      simulate: false, logFormat: .json, environment: account.environment(from: processEnvironment()))
    let flaws = DaemonConfinement(configuration, options).closedToAccount
    guard !flaws.isEmpty else {
      return [Diagnosis(name: name, status: .ok, found: "\(wanted), to which all is open", why: why, fix: nil)]
    }
    return flaws.map { flaw in
      // The command to type follows the colon of the sentence.
      let parts = flaw.split(separator: ": ", maxSplits: 1).map(String.init)
      return Diagnosis(name: name, status: .fail, found: parts[0], why: why, fix: parts.count > 1 ? parts[1] : nil)
    }
  }
}
