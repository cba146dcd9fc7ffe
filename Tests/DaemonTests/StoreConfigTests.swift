import DaemonSupport
import Foundation
import Store
import Testing

@testable import TactusDaemon

@Suite("configuration of the store")
struct StoreConfigTests {
  private func path(_ text: String, simulate: Bool = false) throws -> String? {
    try read(text).storePath(simulate: simulate, environment: ["XDG_STATE_HOME": "/x"])
  }

  @Test("nobody keeps anything: no store, whatever its section says")
  func none() throws {
    #expect(try path("motors: { backend: sim }\nleg: { backend: sim }\nstore: { folder: /s }") == nil)
  }

  @Test("the store: apart when simulated, so that real schedules are never touched")
  func paths() throws {
    #expect(try path("sprinkler:\nstore: { folder: /s }") == "/s/store.sqlite")
    #expect(try path("sprinkler:\nstore: { folder: /s }", simulate: true) == "/s/simulated/store.sqlite")
    #expect(try path("sprinkler: { backend: sim }\nstore: { folder: /s }", simulate: true) == "/s/store.sqlite")
    #expect(try #require(try path("sprinkler: { backend: sim }")).hasSuffix("/simulated/store.sqlite"))
  }

  @Test(
    "two files, or two programs, share no store by silence: tactus.yaml has the program's folder, another file one of its name there"
  )
  func folders() throws {
    func path(_ file: String, _ text: String = "sprinkler:", simulate: Bool = false) throws -> String? {
      var configuration = try read(text)
      configuration.file = file
      return configuration.storePath(simulate: simulate, environment: ["XDG_STATE_HOME": "/x"])
    }
    for (file, simulate, expected) in [
      ("tactus.yaml", false, "/x/tactus/store.sqlite"),
      ("/etc/tactus/tactus.yaml", true, "/x/tactus/simulated/store.sqlite"),
      ("garden/roses.yaml", false, "/x/tactus/roses.yaml/store.sqlite"),
      ("garden/roses.yaml", true, "/x/tactus/roses.yaml/simulated/store.sqlite"),
      // Files whose name is that of a folder of the program's.
      ("simulated", false, "/x/tactus/simulated.yaml/store.sqlite"),
      ("simulated.yaml", false, "/x/tactus/simulated.yaml/store.sqlite"),
    ] {
      #expect(try path(file, simulate: simulate) == expected)
    }
    #expect(try path("roses.yaml", "sprinkler:\nstore: { folder: /s }") == "/s/store.sqlite")
  }

  @Test("two files of one name in two folders have one store by silence: told, until one is gone or names a folder")
  func sharing() throws {
    let folder = try TemporaryFolder()
    for name in ["a", "b"] {
      try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
      try "sprinkler:".write(toFile: folder.path("\(name)/c.yaml"), atomically: true, encoding: .utf8)
    }
    func of(_ name: String, _ text: String = "sprinkler:") throws -> Configuration {
      var configuration = try read(text)
      configuration.file = folder.path("\(name)/c.yaml")
      return configuration
    }
    let (first, second, store) = (try of("a"), try of("b"), folder.path("store.sqlite"))
    #expect(first.sharing(of: store) == nil)
    first.noteSharing(of: store)
    #expect(first.sharing(of: store) == nil)
    let told = try #require(second.sharing(of: store))
    #expect(told.hasSuffix("/a/c.yaml has the same by silence: expected store.folder in one of the two files"))
    #expect(try of("b", "sprinkler:\nstore: { folder: /s }").sharing(of: store) == nil)
    try FileManager.default.removeItem(atPath: folder.path("a/c.yaml"))
    #expect(second.sharing(of: store) == nil)
  }

  @Test("how many copies are kept: as the file says, else eight and those of fourteen days")
  func copies() throws {
    #expect(try read("sprinkler:").store?.policy == SnapshotPolicy(recent: 8, days: 14))
    #expect(
      try read("store: { snapshots: 3, snapshot_days: 0 }").store?.policy == SnapshotPolicy(recent: 3, days: 0))
  }

  @Test(
    "the keys as they were in the sprinkler's section: an error that names the new one",
    arguments: [
      ("state_dir: /s", "sprinkler.state_dir: expected store.folder, as this key is called now, got state_dir"),
      ("snapshots: 3", "sprinkler.snapshots: expected store.snapshots, as this key is called now, got snapshots"),
    ])
  func moved(key: String, error: String) throws {
    let errors = #expect(throws: ConfigErrors.self) { try read("sprinkler: { \(key) }") }
    #expect(errors?.errors.map(\.description) == ["c.yaml:1:14: \(error)"])
  }
}
