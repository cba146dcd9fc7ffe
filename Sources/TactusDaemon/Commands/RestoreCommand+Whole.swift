import ArgumentParser
import Foundation
import Service
import Store
import WallTime

/// The restore of a whole backup: configuration, tokens and store.
extension RestoreCommand {
  /// Puts all of a backup in place. Nothing is changed before all of it has been checked.
  func replaceAll(by archive: BackupArchive) throws {
    if !isConfigured(by: archive), let obstacle = WholeFile.obstacle(to: place.file) {
      complain("\(place.file): cannot be written: \(obstacle); nothing was changed")
      throw ExitCode.failure
    }
    let (taken, lacking) = try configuration(of: archive)
    let folder = TokenFileOptions.folder(of: taken.configuration)
    let before: [UInt8]?
    let tokens: TokenFile?
    do {
      before = try readWhole(place.file)
      tokens = try archive.tokens.map { try TokenFile.decode($0, path: BackupArchive.tokensName) }
    } catch {
      complain("\(error); nothing was changed")
      throw ExitCode.failure
    }
    if let store = archive.store {
      try expectStopped(taken.configuration)
      _ = try place.use(taken.configuration, needsStore: false) { file throws(StoreError) in
        try file.inspect(store, isWhole: true, at: .now)
      }
    }
    let kept = ".replaced-\(StoreRoutes.stamp)"
    try put(archive.configuration, isSame: isConfigured(by: archive), before: before, keepingAs: place.file + kept)
    if let tokens { try put(tokens, in: folder, keepingAs: folder.path + kept) }
    if let store = archive.store, let replaced = try replace(in: taken.configuration, by: store) {
      print("store: \(place.storePath(of: taken.configuration) ?? ""); what was there before: \(replaced)")
    }
    print("\(backup ?? ""): restored.")
    for error in lacking {
      print("Still to bring: \(error.key): the environment variable \(error.variable ?? ""), which is not set here")
    }
    for (key, path) in taken.namedFiles where access(path, F_OK) != 0 {
      print("Still to bring: \(key): the file \(path)")
    }
  }

  /// Returns the configuration of an archive, as if it were in its place, and an error for each environment variable that is not set.
  private func configuration(of archive: BackupArchive) throws -> (taken: TakenFile, lacking: [ConfigError]) {
    do throws(ConfigErrors) {
      return try Configuration.readText(archive.configuration, of: place.file, environment: processEnvironment())
    } catch {
      complain("the backup's configuration, as \(place.file): expected one that this program takes, got:\n\(error)")
      throw ExitCode.badConfig
    }
  }

  /// Ends the command if a daemon of the present configuration runs whose store is another one than that of the new configuration.
  private func expectStopped(_ new: Configuration) throws {
    guard let present = try? Configuration.read(path: place.file, environment: processEnvironment()),
      let path = place.storePath(of: present), path != place.storePath(of: new), access(path, F_OK) == 0
    else { return }
    try place.use(present, needsStore: true) { _ in }
  }

  private func put(_ text: String, isSame: Bool, before: [UInt8]?, keepingAs copy: String) throws {
    guard !isSame else { return print("configuration: \(place.file), the same") }
    do {
      if let before { try writeAtomically(before, to: copy, mode: 0o600) }
      try WholeFile.write(text, to: place.file)
    } catch let error as FileFailure {
      complain("\(error)")
      throw ExitCode.failure
    } catch let error as POSIXError {
      complain("\(place.file): \(String(cString: strerror(error.code.rawValue)))")
      throw ExitCode.failure
    } catch {
      complain("\(place.file): \(error.localizedDescription)")
      throw ExitCode.failure
    }
    print("configuration: \(place.file)" + (before == nil ? "" : "; what was there before: \(copy)"))
  }

  private func put(_ tokens: TokenFile, in folder: TokenFolder, keepingAs copy: String) throws {
    do throws(TokenFileError) {
      let isChanged = try folder.restore(tokens, keepingAs: copy)
      let isKept = access(copy, F_OK) == 0
      print("tokens: \(folder.path)" + (isKept ? "; what was there before: \(copy)" : isChanged ? "" : ", the same"))
    } catch {
      complain("\(error)")
      throw ExitCode.failure
    }
  }

  /// Returns whether the configuration file is that of the archive, its secrets left aside, also in comments: archives of earlier versions have them.
  func isConfigured(by archive: BackupArchive) -> Bool {
    let configuration = (try? SecretComments(leftOutOf: archive.configuration))?.text ?? archive.configuration
    return (try? ConfigurationCopy(of: place.file, environment: processEnvironment()))?.text == configuration
  }
}
