import Foundation
import Testing

@testable import TactusClient

@Suite("What an app keeps")
@MainActor
struct KeepTests {
  private func folder() throws -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("tactus-client-\(UUID().uuidString)")
  }

  private func mode(_ path: String) throws -> Int {
    (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue ?? 0
  }

  @Test(
    "the last state is there without a connection, with its age by the wall clock; of a clock set back the age is not known"
  )
  func cache() async throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let cache = FileStateCache(folder: folder)
    let before = Bench(cache: cache)
    before.daemon.answer("/api/systems", DeclaredTests.oven)
    before.daemon.answer("/api/schedules", #"{"ok":true,"schedules":\#(json(SampleStates.schedules))}"#)
    await before.connect(["sprinkler": json(SampleStates.sprinkler), "oven": #"{"celsius": 21}"#])
    await eventually("schedules and an oven") {
      before.model.sprinkler?.schedules.isEmpty == false && before.model.declared.first != nil
    }
    before.model.stop()
    #expect(before.daemon.socket?.isClosed == true)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(files == ["tactus-test%3A8000.json"])
    let path = folder.appendingPathComponent(files[0]).path
    #expect(try mode(path) == 0o600 && mode(folder.path) == 0o700)
    #expect(try !String(contentsOfFile: path, encoding: .utf8).contains("secret"))

    let after = Bench(cache: cache)
    after.daemon.hasSocket = false
    after.daemon.answer("/api/status") { _ throws(ClientError) in throw .unreachable("gone") }
    after.clock.wallSeconds += 90
    after.model.start()
    #expect(
      after.model.sprinkler?.state == SampleStates.sprinkler
        && after.model.sprinkler?.schedules == SampleStates.schedules)
    #expect(after.model.declared.first?["celsius"] == .number(21) && after.model.age == .seconds(90))
    await eventually("lost") { after.model.state == .lost(.unreachable("gone")) }
    after.clock.wallSeconds -= 1000
    #expect(after.model.age == nil)
  }

  @Test("a file that is no cache, and a folder that cannot be written, are no error")
  func broken() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let cache = FileStateCache(folder: folder)
    cache.save(Data("no JSON".utf8), Endpoint(host: "test"))
    let bench = Bench(cache: cache)
    bench.model.start()
    #expect(bench.model.robot == nil && bench.model.age == nil)
    bench.model.stop()
    FileStateCache(folder: URL(fileURLWithPath: "/proc/none")).save(Data(), Endpoint(host: "test"))
  }

  @Test("tokens: kept in a private file, replaced, forgotten; one that others can read is not taken")
  func tokens() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (tokens, endpoint) = (FileTokens(folder: folder), Endpoint(host: "::1", port: 8001))
    #expect(try tokens.token(for: endpoint) == nil)
    try tokens.keep("one", for: endpoint)
    try tokens.keep("two", for: endpoint)
    #expect(try tokens.token(for: endpoint) == "two" && tokens.token(for: Endpoint(host: "other")) == nil)
    let path = folder.appendingPathComponent(try FileManager.default.contentsOfDirectory(atPath: folder.path)[0]).path
    #expect(try mode(path) == 0o600)
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    #expect(throws: FileTokens.Failure.readableByOthers(path: path, mode: 0o640)) { try tokens.token(for: endpoint) }
    try tokens.forget(endpoint)
    try tokens.forget(endpoint)
    #expect(try tokens.token(for: endpoint) == nil)
    let memory = MemoryTokens()
    memory.keep("three", for: endpoint)
    #expect(memory.token(for: endpoint) == "three")
    memory.forget(endpoint)
    #expect(memory.token(for: endpoint) == nil)
  }

  @Test(
    "what a person types is an address",
    arguments: [
      ("pi.local", "http://pi.local:8000/x"), (" 192.168.1.20:8001 ", "http://192.168.1.20:8001/x"),
      ("[::1]:8000", "http://[::1]:8000/x"), ("https://pi.example.org", "https://pi.example.org:443/x"),
      ("http://pi.local/", "http://pi.local:8000/x"),
    ])
  func addresses(text: String, url: String) throws {
    #expect(try Endpoint(text).url("/x")?.absoluteString == url)
  }

  @Test(
    "what is no address is refused in words",
    arguments: ["", "pi.local:0", "pi.local:70000", "ftp://pi", "pi.local/a", "u:p@pi"])
  func wrongAddresses(text: String) {
    let error = #expect(throws: ClientError.self) { try Endpoint(text) }
    #expect(error?.field == "address" && error?.errorDescription?.contains("such as pi.local:8000") == true)
  }
}
