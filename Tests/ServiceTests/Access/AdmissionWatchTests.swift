import HTTPTypes
import NIOEmbedded
import Synchronization
import Testing

@testable import Service

@Suite("What lasts is admitted again, in simulated time")
struct AdmissionWatchTests {
  /// What the access control says now, what the clock says, and what a watch has said.
  private final class World: Sendable {
    let scope = Mutex<Scope?>(.control)
    let seconds = Mutex<Int64>(0)
    let isNeeded = Mutex(true)
    let codes = Mutex<[String]>([])

    func admit(_ needed: Scope?, expires: Int64? = nil) throws(APIError) -> Caller {
      guard let scope = scope.withLock({ $0 }) else { throw APIError(.unauthorized, "TOKEN_INVALID", "not valid here") }
      if let needed, scope < needed { throw APIError(.forbidden, "SCOPE_DENIED", "another scope") }
      return Caller(scope: scope, tokenID: "t", address: "x", client: 7, expires: expires)
    }
  }

  private let world = World()
  private let hub = EventHub()
  private let loop = EmbeddedEventLoop()

  private func watch(scope: Scope = .read, keepsScope: Bool = false, expires: Int64? = nil) throws -> AdmissionWatch {
    let request = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/")
    let admission = LastingAdmission(
      caller: try world.admit(nil, expires: expires), request: request, certificate: nil, scope: scope,
      keepsScope: keepsScope)
    let watching = AdmissionWatching(
      hub: hub,
      admit: { [world] _, _, _, scope throws(APIError) in try world.admit(scope, expires: expires) },
      interval: .seconds(1), secondsSince1970: { [world] in world.seconds.withLock { $0 } })
    let watch = AdmissionWatch(
      admission, watching, on: loop, while: { [world] in world.isNeeded.withLock { $0 } },
      ended: { [world] code in world.codes.withLock { $0.append(code) } })
    watch.begin()
    return watch
  }

  private var codes: [String] { world.codes.withLock { $0 } }

  @Test("the token is revoked: ended within a second, once; before, nothing")
  func revoked() throws {
    _ = try watch()
    loop.advanceTime(by: .seconds(100))
    #expect(codes.isEmpty && hub.watches == 1)
    world.scope.withLock { $0 = nil }
    loop.advanceTime(by: .milliseconds(999))
    #expect(codes.isEmpty)
    loop.advanceTime(by: .milliseconds(1))
    #expect(codes == ["TOKEN_INVALID"])
    loop.advanceTime(by: .seconds(10))
    hub.checkTokens()
    loop.run()
    #expect(codes == ["TOKEN_INVALID"] && hub.watches == 0)
  }

  @Test("the token is revoked over the API: ended at once")
  func revokedHere() throws {
    _ = try watch()
    hub.checkTokens()
    loop.run()
    #expect(codes.isEmpty)
    world.scope.withLock { $0 = nil }
    hub.checkTokens()
    loop.run()
    #expect(codes == ["TOKEN_INVALID"] && hub.watches == 0)
  }

  @Test(
    "the token has less scope: what still may is left alone, what acts by its scope ends, and what may not any more")
  func scopes() throws {
    _ = try watch(scope: .read)
    _ = try watch(scope: .read, keepsScope: true)
    _ = try watch(scope: .control)
    world.scope.withLock { $0 = .read }
    loop.advanceTime(by: .seconds(1))
    #expect(codes.sorted() == ["SCOPE_DENIED", "TOKEN_CHANGED"] && hub.watches == 1)
  }

  @Test(
    "the token expires: ended by the time of day, also if that jumps; one that has expired is ended at the beginning")
  func expired() throws {
    _ = try watch(expires: 1_000)
    loop.advanceTime(by: .seconds(5_000))
    #expect(codes.isEmpty)
    world.seconds.withLock { $0 = 1_000 }
    loop.advanceTime(by: .seconds(1))
    #expect(codes == ["TOKEN_EXPIRED"])
    _ = try watch(expires: 1_000)
    #expect(codes == ["TOKEN_EXPIRED", "TOKEN_EXPIRED"] && hub.watches == 0)
  }

  @Test("what has ended by itself, or was cancelled: the watch ends without a word")
  func over() throws {
    let cancelled = try watch()
    cancelled.cancel()
    #expect(hub.watches == 0)
    _ = try watch()
    world.scope.withLock { $0 = nil }
    world.isNeeded.withLock { $0 = false }
    loop.advanceTime(by: .seconds(2))
    #expect(codes.isEmpty && hub.watches == 0)
  }
}
