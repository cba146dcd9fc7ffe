import Foundation
import Testing

/// Answers to commands over a messaging link as they come, from any thread.
package final class CommandAnswers: Sendable {
  private let texts: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  package init() { (texts, continuation) = AsyncStream.makeStream(of: String.self) }

  package func add(_ bytes: [UInt8]) { continuation.yield(String(decoding: bytes, as: UTF8.self)) }

  package func next(_ count: Int) async -> [String] {
    var found: [String] = []
    for await text in texts {
      found.append(text)
      if found.count == count { break }
    }
    return found
  }

  package func code(isolation: isolated (any Actor)? = #isolation) async throws -> String? {
    let text = try #require(await next(1).first)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    return object["ok"] as? Bool == true ? "ok" : object["code"] as? String
  }
}
