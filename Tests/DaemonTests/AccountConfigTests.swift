import Confinement
import DaemonSupport
import Testing

@testable import TactusDaemon

/// `runtime.user`: who may become whom.
@Suite("the account of the file")
struct AccountConfigTests {
  private let root: Account
  private let nobody: Account

  init() throws {
    root = try #require(Account(named: "root"))
    nobody = try #require(Account(named: "nobody"))
  }

  private func account(
    _ user: String?, from current: Account, simulate: Bool = false
  ) throws -> Result<Account?, ConfigError> {
    let text = "motors: { backend: sim }\n" + (user.map { "runtime:\n  user: \($0)\n" } ?? "")
    let (configuration, found) = try Configuration.readWhole(YAMLFile(text: text, name: "t.yaml"), environment: [:])
    do throws(ConfigError) {
      return .success(
        try configuration.account(from: current, simulate: simulate, ConfigPlaces(marks: found.places)))
    } catch {
      return .failure(error)
    }
  }

  @Test("root becomes the account that the file names, in a simulation, too")
  func change() throws {
    #expect(try account("nobody", from: root).get() == nobody)
    #expect(try account("nobody", from: root, simulate: true).get() == nobody)
  }

  @Test("no account in the file, or the one that it is already: nothing changes")
  func same() throws {
    #expect(try account(nil, from: root).get() == nil)
    #expect(try account("root", from: root).get() == nil)
    #expect(try account("nobody", from: nobody).get() == nil)
  }

  @Test("an account that the machine does not have: an error at its place")
  func unknown() throws {
    let error = try #require(throws: ConfigError.self) { try account("no-such-account", from: root).get() }
    #expect("\(error)" == "t.yaml:3:9: runtime.user: expected an account of this machine, got no-such-account")
  }

  @Test("not root, and another account: an error that says what to do; a simulation runs as it was started")
  func notRoot() throws {
    let error = try #require(throws: ConfigError.self) { try account("root", from: nobody).get() }
    #expect("\(error)".hasPrefix("t.yaml:3:9: runtime.user: expected nobody, who has started this program: only root"))
    #expect(try account("root", from: nobody, simulate: true).get() == nil)
    #expect(try account("no-such-account", from: nobody, simulate: true).get() == nil)
  }

  @Test("an account, and a program that gives up nothing: an error of the file")
  func unconfined() throws {
    let error = try #require(throws: ConfigErrors.self) {
      try read("motors: { backend: sim }\nruntime: { confine: false, user: tactus }")
    }
    #expect("\(error)".contains("runtime.user: expected runtime.confine: true"))
    _ = try read("motors: { backend: sim }\nruntime: { confine: false, user: root }")
  }

  @Test("the environment is the account's: its home and its name, and no folder of who started it")
  func environment() {
    let before = ["HOME": "/root", "XDG_STATE_HOME": "/root/state", "USER": "root", "LANG": "C"]
    #expect(
      nobody.environment(from: before)
        == ["HOME": nobody.home, "USER": "nobody", "LOGNAME": "nobody", "LANG": "C"])
  }
}
