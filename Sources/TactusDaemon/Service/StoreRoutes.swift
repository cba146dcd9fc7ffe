public import Service
public import Store
import Tactus
public import WallTime

/// The routes `/api/backup` and `/api/restore`, by which a running program gives its whole store and takes one.
struct StoreRoutes {
  let file: StoreFile
  /// How a system that holds in memory what a backup changes takes one, or `nil` if no system does.
  let live: LiveRestore?

  /// The size of the largest backup that is taken, bytes.
  static let longestBackup = 256 << 20

  var routes: [Route] {
    var restore = Route(.post, "/api/restore", scope: .admin, action: "store.restore") { try await restored($0) }
    restore.fileLimit = Self.longestBackup
    return [
      Route(.get, "/api/backup", scope: .admin, action: "store.backup") { _ in
        let bytes: [UInt8]
        do throws(StoreError) { bytes = try file.backup() } catch { throw APIError.storeFailed(error) }
        return APIResponse(
          contentType: "application/vnd.sqlite3",
          headers: [.contentDisposition: "attachment; filename=\"\(Self.fileName)\""], body: bytes,
          logValue: "bytes=\(bytes.count)")
      }.waitingForDisk(longest: DiskThreads.longPatience), restore.waitingForDisk(longest: DiskThreads.longPatience),
    ]
  }

  /// The name of a backup that is made now: `tactus-20261128T063000Z.sqlite`.
  static var fileName: String {
    let stamp = WallClock.text.prefix(19).filter { $0 != "-" && $0 != ":" }
    return "\(DaemonProgram.current.name)-\(stamp)Z.sqlite"
  }

  private struct Done: Encodable {
    var ok = true
    /// The number of bytes that were taken.
    var bytes: Int
  }

  private func restored(_ request: APIRequest) async throws -> APIResponse {
    guard !request.body.isEmpty else {
      throw APIError(.badRequest, "BODY_MISSING", "expected the file that GET /api/backup gave, got nothing")
    }
    let backup = try file.checked(request.body, at: .now)
    if let live {
      try await live.restore(backup, request.caller)
    } else {
      do throws(StoreError) {
        _ = try file.restore(backup) { _ in true }
      } catch {
        // What is wrong with the backup is no failure of the store.
        if case .damaged(let name, _) = error, name != file.path { throw APIError.notABackup(error) }
        throw APIError.storeFailed(error)
      }
    }
    return .json(Done(bytes: request.body.count), logValue: "bytes=\(request.body.count)")
  }
}

/// How a desk that holds in memory what a restored backup changes takes one. The desk offers this to the program; one desk of a program may.
public struct LiveRestore: Sendable {
  let restore: @Sendable (_ backup: CheckedBackup, _ caller: Caller) async throws -> Void

  /// - Parameter restore: calls `StoreFile.restore`, and changes the desk's memory together with the tables.
  public init(_ restore: @escaping @Sendable (_ backup: CheckedBackup, _ caller: Caller) async throws -> Void) {
    self.restore = restore
  }
}

extension StoreFile {
  /// Checks a backup from a request, and makes a snapshot of the present store.
  ///
  /// - Throws: 422 if the bytes are no backup of this program, 503 if the store does not work.
  public func checked(_ backup: [UInt8], at now: WallInstant) throws(APIError) -> CheckedBackup {
    do throws(StoreError) {
      return try check(backup, at: now)
    } catch {
      switch error {
      case .foreign, .damaged, .newer: throw .notABackup(error)
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
