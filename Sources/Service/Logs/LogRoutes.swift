@_spi(FromOutside) import Conversions
import Foundation
import HTTPTypes
import Logging
import Synchronization
import Tactus

/// The least severe level that is logged, for all loggers at once. It may be used from any thread.
public final class LogThreshold: Sendable {
  private let index: Atomic<Int>

  /// Makes a threshold.
  ///
  /// - Parameter level: the least severe level that is logged.
  public init(_ level: Logger.Level) { index = Atomic(Self.index(of: level)) }

  /// The least severe level that is logged. A change takes effect with the next line, except for loggers with a level of their own.
  public var level: Logger.Level {
    get { Logger.Level.allCases[index.load(ordering: .relaxed)] }
    set { index.store(Self.index(of: newValue), ordering: .relaxed) }
  }

  private static func index(of level: Logger.Level) -> Int { Logger.Level.allCases.firstIndex(of: level)! }
}

/// The routes `/api/logs`, `/api/logs/export` and `/api/log-level`.
public struct LogRoutes: Sendable {
  private let history: LogHistory
  private let threshold: LogThreshold

  private static let linesUnlessAsked = 200
  private static let mostLines = 1000
  private static let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")

  /// Makes the routes of one log.
  ///
  /// - Parameters:
  ///   - history: the log lines that are returned.
  ///   - threshold: the threshold that `PUT /api/log-level` sets.
  public init(history: LogHistory, threshold: LogThreshold) {
    (self.history, self.threshold) = (history, threshold)
  }

  /// All routes need the scope `read`, except `PUT /api/log-level`, which needs `admin`.
  public var routes: [Route] {
    [
      Route(.get, "/api/logs") { try lines($0) },
      Route(.get, "/api/logs/export") { _ in export() },
      Route(.get, "/api/log-level") { _ in levelDocument() },
      Route(.put, "/api/log-level", scope: .admin, action: "log.level") { try setLevel($0) },
    ]
  }

  private func lines(_ request: APIRequest) throws(APIError) -> APIResponse {
    let query = try QueryReader(request.query, names: ["since", "limit", "level", "system"])
    let since = try query.integer("since", in: 0...Int64.max)
    let limit = try query.integer("limit", in: 1...Int64(Self.mostLines)) ?? Int64(Self.linesUnlessAsked)
    let level = try request.query["level"].map { text throws(APIError) in try Self.level(text) } ?? .trace
    let page = history.page(since: since, limit: Int(limit), level: level, system: request.query["system"])
    // The lines are JSON already, so the document is written around them.
    let body =
      #"{"dropped":\#(page.dropped),"lines":["# + page.lines.joined(separator: ",")
      + #"],"next":\#(page.next),"ok":true}"#
    return APIResponse(contentType: "application/json", body: Array(body.utf8))
  }

  /// Returns the lines of the history, one JSON object a line. The log file, if there is one, goes further back.
  private func export() -> APIResponse {
    let lines = history.page(since: 0, limit: .max).lines
    let stamp = WallClock.text.prefix(19).filter { $0 != "-" && $0 != ":" }
    return APIResponse(
      contentType: "application/x-ndjson",
      headers: [.contentDisposition: "attachment; filename=\"tactus-\(stamp)Z.log\""],
      body: lines.flatMap { Array($0.utf8) + [0x0A] })
  }

  private struct LevelDocument: Encodable {
    var ok = true
    var level: String
  }

  private struct LevelChange: JSONReadable {
    let level: Logger.Level

    init(_ body: inout JSONReader) throws(APIError) {
      level = try LogRoutes.level(body.required("level", .text(0...40)))
    }
  }

  private func levelDocument(logValue: String? = nil) -> APIResponse {
    .json(LevelDocument(level: threshold.level.rawValue), logValue: logValue)
  }

  private func setLevel(_ request: APIRequest) throws(APIError) -> APIResponse {
    let level = try request.decode(LevelChange.self).level
    threshold.level = level
    return levelDocument(logValue: "level=\(level.rawValue)")
  }

  fileprivate static func level(_ text: String) throws(APIError) -> Logger.Level {
    guard let level = Logger.Level(rawValue: text.lowercased()) else {
      throw .validation("level", expected: "one of \(levels)", got: "\"\(text)\"")
    }
    return level
  }
}
