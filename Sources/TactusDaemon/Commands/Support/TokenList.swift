import Foundation
import Service

/// Formats the tokens of a file for people and for programs, without secrets and hashes.
enum TokenList {
  private struct Line: Encodable {
    let id: String
    let name: String
    let scope: Scope
    let state: TokenRecord.State
    let created: Int64
    let expires: Int64?
    let revoked: Int64?
    let oldSecretUntil: Int64?
  }

  private struct Document: Encodable {
    let tokens: [Line]
    let revokedJWT: [String]
  }

  static func json(_ file: TokenFile, now: Int64) -> String {
    let lines = file.tokens.map {
      Line(
        id: $0.id, name: $0.name, scope: $0.scope, state: $0.state(now: now), created: $0.created, expires: $0.expires,
        revoked: $0.revoked, oldSecretUntil: $0.previousUntil.flatMap { now < $0 ? $0 : nil })
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let bytes = try? encoder.encode(Document(tokens: lines, revokedJWT: file.revokedJWT)) else {
      preconditionFailure("integers and texts are JSON")
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the tokens as a table.
  ///
  /// - Parameter make: the command that makes a token in this file.
  static func table(_ file: TokenFile, now: Int64, make: String) -> String {
    guard !file.tokens.isEmpty else { return "no tokens; make one: \(make)" }
    var rows = [["ID", "SCOPE", "STATE", "CREATED", "EXPIRES", "NAME"]]
    rows += file.tokens.map {
      [
        $0.id, $0.scope.rawValue, $0.state(now: now).rawValue, CivilTime.text($0.created),
        $0.expires.map(CivilTime.text) ?? "never", $0.name,
      ]
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      row.dropLast().enumerated()
        .map { $1.padding(toLength: widths[$0] + 2, withPad: " ", startingAt: 0) }.joined() + row.last!
    }.joined(separator: "\n")
  }
}
