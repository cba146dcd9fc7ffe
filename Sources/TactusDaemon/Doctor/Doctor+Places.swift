import Glibc

extension Doctor {
  /// Checks that what the file names as a file is no folder, and the other way round. What is not there yet is in order, as is what this account
  /// may not look at.
  func places() -> [Diagnosis] {
    guard machine.isThisOne, let configuration else { return [] }
    let isStored = configuration.storePath(simulate: false, environment: processEnvironment()) != nil
    return [
      place(
        isStored ? configuration.store?.folder : nil, key: "store.folder", isFolder: true,
        why: "without the store whatever would be kept is refused"),
      place(
        configuration.tokenFile, key: "service.token_file", isFolder: false, why: "without its tokens nobody gets in"),
      place(
        configuration.logFile, key: "logging.file", isFolder: false, why: "without it lines go to standard error only"),
    ].compactMap(\.self)
  }

  /// Checks that the secrets which are in files of their own can be read. Those of receivers are checked with these.
  func secrets() -> [Diagnosis] {
    guard machine.isThisOne, var configuration else { return [] }
    configuration.notify = nil
    do throws(ConfigError) {
      try configuration.readSecrets()
      return []
    } catch {
      return [
        Diagnosis(
          name: error.key, status: .fail, found: "\(error)", why: "the daemon does not start without it",
          fix: "write the secret into the first line of the file, readable for who starts the daemon")
      ]
    }
  }

  private func place(_ path: String?, key: String, isFolder: Bool, why: String) -> Diagnosis? {
    guard let path, let flaw = Self.flaw(of: path, isFolder: isFolder) else { return nil }
    return Diagnosis(
      name: key, status: .fail, found: "\(path): expected a \(isFolder ? "folder" : "file"), got \(flaw)", why: why,
      fix: "give \(key) another path")
  }

  /// Returns what is at a path in place of a folder or a file, or `nil` if nothing is known to be wrong there.
  static func flaw(of path: String, isFolder: Bool) -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else {
      return errno == ENOTDIR ? "a path through something that is no folder" : nil
    }
    let isThereFolder = status.st_mode & S_IFMT == S_IFDIR
    guard isThereFolder != isFolder else { return nil }
    return isThereFolder ? "a folder" : "something else"
  }
}
