import Foundation
import Service
import Store
import Tactus

/// The file of `tactus backup`: what the owner of a machine needs after its disk is gone, in one archive that `tar` opens.
///
/// Its first entry says what the others are, and their check sums. A backup of some parts, and every one of earlier versions, is the store's file alone.
struct BackupArchive: Sendable {
  /// The first entry: what is in the archive, and what is not.
  struct Manifest: Codable, Sendable {
    /// An entry behind the first.
    struct Entry: Codable, Sendable {
      var name: String
      var bytes: Int
      /// The SHA-256 of the bytes in hexadecimal digits.
      var sha256: String
    }

    /// The number of this format, 1. A change that an older program would misread raises it.
    var format: Int
    /// The name and the version of the program that made the backup.
    var program: String
    var version: String
    var madeISO: String
    var entries: [Entry]
    /// The contents of the store, part by part, in the form of `GET /api/store`.
    var parts: [StoreHeld.Part]
    /// The things that the program needs and the archive does not hold, a line for each: secrets, and files that the
    /// configuration names; then the comments that were left out.
    var notInIt: [String]
  }

  /// The media type of an archive.
  static let mediaType = "application/x-tar"

  static let manifestName = "manifest.json"
  static let configurationName = "configuration.yaml"
  static let tokensName = "tokens.json"
  static let storeName = "store.sqlite"
  private static let format = 1

  let manifest: Manifest
  /// The text of the configuration file.
  let configuration: String
  /// The bytes of the token file. It is `nil` if the machine had no token file when the backup was made.
  let tokens: [UInt8]?
  /// The store's file, or `nil` if no system kept anything.
  let store: [UInt8]?

  /// Returns the bytes of an archive that is made now.
  ///
  /// - Parameter parts: what the store holds; empty without a store.
  static func make(
    configuration: ConfigurationCopy, tokens: [UInt8]?, store: [UInt8]?, parts: [HeldPart]
  ) -> [UInt8] {
    var entries = [TarArchive.Entry(name: configurationName, bytes: Array(configuration.text.utf8))]
    if let tokens { entries.append(TarArchive.Entry(name: tokensName, bytes: tokens)) }
    if let store { entries.append(TarArchive.Entry(name: storeName, bytes: store)) }
    let manifest = Manifest(
      format: format, program: DaemonProgram.current.name, version: DaemonProgram.current.version,
      madeISO: "\(WallClock.text.prefix(19))Z",
      entries: entries.map { Manifest.Entry(name: $0.name, bytes: $0.bytes.count, sha256: sha256Text(of: $0.bytes)) },
      parts: StoreHeld(parts: parts, replaced: nil).parts, notInIt: configuration.notInBackup)
    let first = TarArchive.Entry(name: manifestName, bytes: encodeJSON(manifest) + Array("\n".utf8))
    return TarArchive.encode([first] + entries, at: WallClock.microseconds / 1_000_000)
  }

  /// Reads and checks a whole archive.
  ///
  /// - Throws: `TarArchive.Failure`, which names the entry, what was expected of it and what came.
  init(_ bytes: [UInt8]) throws(TarArchive.Failure) {
    let entries = try TarArchive.decode(bytes)
    guard let first = entries.first, first.name == Self.manifestName else {
      throw TarArchive.Failure(
        entry: Self.manifestName, message: "expected it as the first entry, got \(entries.first?.name ?? "none")")
    }
    let manifest = try Self.manifest(first.bytes)
    let others = entries.dropFirst()
    let (expected, got) = (manifest.entries.map(\.name), others.map(\.name))
    guard got == expected else {
      throw TarArchive.Failure(
        entry: "", message: "expected the entries \(Self.list(expected)), got \(Self.list(got))")
    }
    for (entry, said) in zip(others, manifest.entries) {
      let sum = sha256Text(of: entry.bytes)
      guard entry.bytes.count == said.bytes, sum == said.sha256 else {
        throw TarArchive.Failure(
          entry: entry.name,
          message: "expected \(said.bytes) bytes with the SHA-256 \(said.sha256), got \(entry.bytes.count) with \(sum)")
      }
    }
    func held(_ name: String) -> [UInt8]? { others.first { $0.name == name }?.bytes }
    guard let configuration = held(Self.configurationName) else {
      throw TarArchive.Failure(entry: Self.configurationName, message: "expected it in every backup, got none")
    }
    self.manifest = manifest
    self.configuration = String(decoding: configuration, as: UTF8.self)
    (tokens, store) = (held(Self.tokensName), held(Self.storeName))
  }

  private static func manifest(_ bytes: [UInt8]) throws(TarArchive.Failure) -> Manifest {
    struct Format: Decodable { var format: Int }
    func failure(_ message: String) -> TarArchive.Failure { TarArchive.Failure(entry: manifestName, message: message) }
    guard let made = try? JSONDecoder().decode(Format.self, from: Data(bytes)) else {
      throw failure("expected JSON with the number of the format, got something else")
    }
    guard made.format == format else {
      throw failure("expected the format \(format), got \(made.format), which another version writes")
    }
    guard let manifest = try? JSONDecoder().decode(Manifest.self, from: Data(bytes)) else {
      throw failure("expected what the format \(format) has, got less")
    }
    guard manifest.program == DaemonProgram.current.name else {
      throw failure("expected a backup of \(DaemonProgram.current.name), got one of \(manifest.program)")
    }
    return manifest
  }

  /// Reads a token file and checks that it is valid. Returns its bytes, or `nil` if no file lies at the path.
  static func tokens(at path: String) throws -> [UInt8]? {
    guard let bytes = try readWhole(path) else { return nil }
    _ = try TokenFile.decode(bytes, path: path)
    return bytes
  }

  private static func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: ", ") }

  /// Returns the store's file in a backup of either kind: of an archive its store, and any other bytes as they are.
  ///
  /// - Throws: `StoreError` if the archive is damaged, or has no store.
  static func store(in backup: [UInt8]) throws(StoreError) -> [UInt8] {
    guard TarArchive.isArchive(backup) else { return backup }
    let archive: BackupArchive
    do throws(TarArchive.Failure) { archive = try BackupArchive(backup) } catch {
      throw .damaged(file: "the backup", reason: "\(error)")
    }
    guard let store = archive.store else { throw .foreign(file: "the backup", found: "a backup without a store") }
    return store
  }
}
