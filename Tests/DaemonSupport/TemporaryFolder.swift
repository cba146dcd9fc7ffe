import Foundation

/// A folder of a test's own, removed when the test lets it go.
package final class TemporaryFolder {
  package let url: URL

  package init() throws {
    // Short: a socket's path has 107 bytes.
    url = FileManager.default.temporaryDirectory.appending(path: "tactus-\(UUID().uuidString.prefix(13))")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  package func path(_ name: String) -> String { url.appending(path: name).path(percentEncoded: false) }

  /// Writes a file; returns its path.
  package func write(_ text: String, to name: String) throws -> String {
    try text.write(toFile: path(name), atomically: true, encoding: .utf8)
    return path(name)
  }
}
