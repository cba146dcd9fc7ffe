import TactusGuard
import TestSupport
import Testing

@testable import TactusDaemon

/// `runtime.watchdog` as `check`, `run` and `doctor` see it.
@Suite("hardware watchdog: configuration and doctor", .ownThread)
struct WatchdogConfigTests {
  private func read(_ runtime: String, more: String = "") throws(ConfigErrors) -> Configuration {
    let text = "motors: { backend: sim }\nruntime:\n  \(runtime)\n\(more)"
    do {
      return try Configuration.read(YAMLFile(text: text, name: "c.yaml"), environment: [:])
    } catch let errors as ConfigErrors {
      throw errors
    } catch {
      preconditionFailure("\(error)")
    }
  }

  @Test("a path and a time-out: as they are given, 15 s unless given; none: none")
  func given() throws {
    #expect(try read("strict: false").watchdog == nil)
    #expect(
      try read("watchdog: /dev/nowhere").watchdog == HardwareWatchdog(path: "/dev/nowhere", timeoutSeconds: 15))
    let configuration = try read("{ watchdog: /dev/nowhere, watchdog_timeout_s: 60 }")
    #expect(configuration.watchdog == HardwareWatchdog(path: "/dev/nowhere", timeoutSeconds: 60))
    #expect(configuration.missingWatchdog(ConfigPlaces(marks: [:]))?.key == "runtime.watchdog")
  }

  @Test("a file, a device that is no watchdog, a relative path, a short time-out, no guard: errors with their place")
  func refused() {
    for (path, words) in [
      ("/etc/passwd", "/etc/passwd: expected a watchdog, got something else"),
      ("/dev/null", "/dev/null: expected a watchdog, got something else"), ("watchdog", "expected an absolute path"),
    ] {
      let errors = #expect(throws: ConfigErrors.self) { try read("watchdog: \(path)") }
      #expect(first(errors).hasPrefix("c.yaml:3:13: runtime.watchdog: \(words)"))
    }
    #expect(throws: ConfigErrors.self) { try read("{ watchdog: /dev/nowhere, watchdog_timeout_s: 4 }") }
    let unguarded = #expect(throws: ConfigErrors.self) {
      try read("watchdog: /dev/nowhere", more: "safety: { watchdog_enabled: false }\n")
    }
    #expect(first(unguarded).contains("safety.watchdog_enabled"))
  }

  private func first(_ errors: ConfigErrors?) -> String { errors?.errors.first.map { "\($0)" } ?? "no error" }

  private func diagnose(_ files: [String: String], holders: [String] = []) throws -> Diagnosis? {
    let tree = try MachineTree(files)
    var machine = Machine.at(root: tree.root)
    machine.holders = { _ in holders }
    let configuration = try read("{ watchdog: /dev/watchdog, watchdog_timeout_s: 20 }")
    return Doctor(machine: machine, configuration: configuration).watchdog()
  }

  @Test("doctor: none; free; ours; another's; one that cannot be stopped; one that has caused the last reset")
  func doctor() throws {
    let folder = "/sys/class/watchdog/watchdog0"
    let free = ["\(folder)/identity": "iTCO_wdt", "\(folder)/state": "inactive\n", "\(folder)/timeout": "30\n"]
    let active = free.merging(["\(folder)/state": "active\n"]) { $1 }
    let none = try diagnose(["/sys/class/net/x": ""])
    #expect(none?.status == .fail && none?.found == "there is no watchdog at /dev/watchdog")
    let found = try diagnose(free)
    #expect(found?.status == .ok && found?.found == "iTCO_wdt, free, time-out 30 s, asked for 20 s")
    let ours = try diagnose(active, holders: ["12 tactus"])
    #expect(ours?.status == .ok && ours?.found.contains("running for 12 tactus") == true)
    let another = try diagnose(active, holders: ["1 systemd"])
    #expect(another?.status == .fail && another?.fix?.contains("RuntimeWatchdogSec=") == true)
    #expect(try diagnose(active)?.status == .ok, "left counting by nobody: the guard takes it over")
    let stuck = try diagnose(free.merging(["\(folder)/nowayout": "1\n"]) { $1 })
    #expect(stuck?.status == .warn && stuck?.found.contains("nowayout") == true)
    let reset = try diagnose(free.merging(["\(folder)/bootstatus": "32\n"]) { $1 })
    #expect(reset?.status == .warn && reset?.found.contains("it has caused the last reset") == true)
    #expect([none, another, stuck, reset].allSatisfy { $0?.fix != nil })
  }
}
