public import Service
public import Store
import Tactus
public import WallTime

/// The routes by which a running program lists the contents of its store, sends them with its configuration and its tokens, or parts of them alone, as one
/// file, and accepts such a file.
struct StoreRoutes {
  let file: StoreFile
  /// The path of the configuration file, and of the token file.
  let configuration: String
  let tokens: String
  let environment: [String: String]
  /// The restore of a system that holds data of a backup in memory, or `nil` if no system does.
  let live: LiveRestore?

  /// The size of the largest backup that is taken, in bytes.
  static let longestBackup = 256 << 20

  var routes: [Route] {
    var look = Route(.post, "/api/restore/look", scope: .admin, action: "store.look") { request in
      .json(StoreLook(try looked(request)))
    }.onlyLooking()
    var restore = Route(.post, "/api/restore", scope: .admin, action: "store.restore") { request in
      let body = try backup(request)
      let checked = try file.checked(body, parts: try parts(request), at: .now)
      return try await putInPlace(checked, request, bytes: body.count)
    }
    (look.fileLimit, restore.fileLimit) = (Self.longestBackup, Self.longestBackup)
    return [
      Route(.get, "/api/store", scope: .admin) { _ in
        do throws(StoreError) {
          return .json(StoreHeld(parts: try file.held(), replaced: try file.replaced().last))
        } catch {
          throw APIError.storeFailed(error)
        }
      },
      Route(.get, "/api/backup", scope: .admin, action: "store.backup") { request in
        let parts = try parts(request)
        let bytes = if let parts { try some(parts) } else { try all() }
        return APIResponse(
          contentType: parts == nil ? BackupArchive.mediaType : Self.mediaType,
          headers: [.contentDisposition: "attachment; filename=\"\(Self.fileName(isWhole: parts == nil))\""],
          body: bytes, logValue: "bytes=\(bytes.count)")
      },
      look, restore,
      Route(.post, "/api/restore/undo", scope: .admin, action: "store.undo") { request in
        guard let backup = try StoreFile.checking({ () throws(StoreError) in try file.checkReplaced(at: .now) }) else {
          throw APIError.conflict("NOTHING_TO_UNDO", "no restore has replaced anything")
        }
        return try await putInPlace(backup, request, bytes: nil)
      },
    ].map { $0.waitingForDisk(longest: DiskThreads.longPatience) }
  }

  /// The media type of a backup of some parts.
  static let mediaType = "application/vnd.sqlite3"

  /// The present time in a file's name: `20261128T063000Z`.
  static var stamp: String {
    let digits = WallClock.text.prefix(19).filter { $0 != "-" && $0 != ":" }
    return "\(digits)Z"
  }

  /// Returns the name of a backup that is made now: `tactus-20261128T063000Z.tar`, or with `sqlite` of some parts.
  static func fileName(isWhole: Bool) -> String {
    "\(DaemonProgram.current.name)-\(stamp).\(isWhole ? "tar" : "sqlite")"
  }

  private struct Done: Encodable {
    var ok = true
    /// The size of the backup that was restored, in bytes, or `nil` if the backup was already on the daemon's disk.
    var bytes: Int?
    /// The parts that were restored.
    var parts: [String]
  }

  /// Returns the parts that a request names, or `nil` if it names none.
  private func parts(_ request: APIRequest) throws(APIError) -> Set<String>? {
    _ = try QueryReader(request.query, names: ["parts"])
    guard let list = request.query["parts"] else { return nil }
    do throws(PartRefusal) {
      return try file.parts(in: list)
    } catch {
      throw .validation("parts", expected: error.expected, got: error.got)
    }
  }

  private func some(_ parts: Set<String>) throws(APIError) -> [UInt8] {
    do throws(StoreError) {
      return try file.backup(parts: parts)
    } catch {
      throw .storeFailed(error)
    }
  }

  /// Returns a whole backup, with the configuration file and the token file as they are on the disk now.
  private func all() throws(APIError) -> [UInt8] {
    do {
      let copy = try ConfigurationCopy(of: configuration, environment: environment)
      let tokens = try BackupArchive.tokens(at: self.tokens)
      let store = try file.backupWithContents()
      return BackupArchive.make(configuration: copy, tokens: tokens, store: store.bytes, parts: store.contents)
    } catch let error as ConfigErrors {
      throw APIError(.unprocessableContent, "BAD_CONFIG", "\(error); with ?parts= the store's parts come alone")
    } catch let error as StoreError {
      throw .storeFailed(error)
    } catch {
      throw .storeFailed(.failed(file: tokens, doing: "reading the tokens", reason: "\(error)"))
    }
  }

  private func backup(_ request: APIRequest) throws(APIError) -> [UInt8] {
    guard !request.body.isEmpty else {
      throw APIError(.badRequest, "BODY_MISSING", "expected the file that GET /api/backup gave, got nothing")
    }
    return request.body
  }

  private func looked(_ request: APIRequest) throws(APIError) -> [ChangedPart] {
    _ = try QueryReader(request.query, names: [])
    let body = try backup(request)
    return try StoreFile.checking { () throws(StoreError) in
      try file.inspect(BackupArchive.store(in: body), isWhole: false, at: .now)
    }
  }

  private func putInPlace(_ backup: CheckedBackup, _ request: APIRequest, bytes: Int?) async throws -> APIResponse {
    if let live, backup.parts.contains(live.part) {
      try await live.restore(backup, request.caller)
    } else {
      do throws(StoreError) {
        _ = try file.restore(backup) { _ in true }
      } catch {
        // An error in the backup is not a failure of the store.
        if case .damaged(let name, _) = error, name != file.path { throw APIError.notABackup(error) }
        throw APIError.storeFailed(error)
      }
    }
    let parts = backup.parts.sorted()
    return .json(Done(bytes: bytes, parts: parts), logValue: "parts=\(parts.joined(separator: ","))")
  }
}

/// The restore of a desk that holds data of a backup in memory. The desk offers this to the program; at most one desk of a program may.
public struct LiveRestore: Sendable {
  let part: String
  let restore: @Sendable (_ backup: CheckedBackup, _ caller: Caller) async throws -> Void

  /// Creates the restore of a desk's part of the store.
  ///
  /// - Parameters:
  ///   - part: the name of the desk's part of the store. A restore that does not take it concerns no desk.
  ///   - restore: calls `StoreFile.restore`, and changes the desk's memory together with the tables.
  public init(
    part: String, _ restore: @escaping @Sendable (_ backup: CheckedBackup, _ caller: Caller) async throws -> Void
  ) {
    (self.part, self.restore) = (part, restore)
  }
}

extension StoreFile {
  /// Checks a backup from a request, of which an archive's store counts alone, and copies the rows that it is to replace.
  ///
  /// - Parameter parts: the parts to restore, or `nil` for all that the backup holds.
  /// - Throws: 422 if the bytes are no backup of this program or lack one of `parts`, 503 if the store does not work.
  public func checked(
    _ backup: [UInt8], parts: Set<String>? = nil, at now: WallInstant
  ) throws(APIError) -> CheckedBackup {
    try Self.checking { () throws(StoreError) in
      try check(BackupArchive.store(in: backup), parts: parts, at: now)
    }
  }

  /// Runs `body`, whose errors about a backup are the client's.
  static func checking<Result>(_ body: () throws(StoreError) -> Result) throws(APIError) -> Result {
    do throws(StoreError) {
      return try body()
    } catch {
      switch error {
      case .foreign, .damaged, .newer: throw .notABackup(error)
      case .lacksPart: throw APIError(.unprocessableContent, "VALIDATION", "\(error)", field: "parts")
      default: throw .storeFailed(error)
      }
    }
  }
}

extension APIError {
  /// Returns the error 422 for a file that is not a backup or whose contents are invalid.
  public static func notABackup(_ error: StoreError) -> APIError {
    APIError(.unprocessableContent, "VALIDATION", "\(error)", field: "body")
  }
}
