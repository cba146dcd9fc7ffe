@_spi(FromOutside) import Conversions
import Glibc
import TactusGuard

extension Doctor {
  /// Checks the hardware watchdog: which process has it open, and whether it is fed.
  func watchdog() -> Diagnosis {
    if let watchdog = configuration?.watchdog { return configured(watchdog) }
    let why = "where program and guard are both gone, nothing else restarts a machine that hangs"
    let folder = "/sys/class/watchdog/watchdog0"
    let feed =
      "printf '[Manager]\\nRuntimeWatchdogSec=15s\\n' | sudo install -D -m 644 /dev/stdin "
      + "/etc/systemd/system.conf.d/tactus.conf && sudo systemctl daemon-reexec"
    guard machine.list("/sys/class/watchdog").contains("watchdog0") else {
      return Diagnosis(name: "watchdog", status: .warn, found: "no hardware watchdog", why: why, fix: missing)
    }
    let name = machine.read("\(folder)/identity") ?? "watchdog0"
    guard let state = machine.read("\(folder)/state") else {
      return Diagnosis(name: "watchdog", status: .ok, found: "\(name), which does not say whether it runs", why: why)
    }
    let runs = state == "active"
    let limit = machine.read("\(folder)/timeout").map { ", after \($0) s" } ?? ""
    return Diagnosis(
      name: "watchdog", status: runs ? .ok : .warn, found: "\(name): " + (runs ? "running\(limit)" : "nobody feeds it"),
      why: why, fix: runs ? nil : feed)
  }

  /// Checks the hardware watchdog that the configuration names: it must exist, and be free or open in the guard.
  private func configured(_ watchdog: HardwareWatchdog) -> Diagnosis {
    let why = "runtime.watchdog: the guard feeds it, and it resets the board when program and guard are both gone"
    let device = watchdog.path.split(separator: "/").last.map(String.init) ?? ""
    // /dev/watchdog is the first one's older name.
    let name = device == "watchdog" ? "watchdog0" : device
    guard machine.list("/sys/class/watchdog").contains(name) else {
      return Diagnosis(
        name: "watchdog", status: .fail, found: "there is no watchdog at \(watchdog.path)", why: why, fix: missing)
    }
    let folder = "/sys/class/watchdog/\(name)"
    let holders = machine.holders(["/dev/\(name)", watchdog.path])
    let isOurs = holders.contains { $0.hasSuffix(DaemonProgram.current.name) }
    let runs = machine.read("\(folder)/state") == "active"
    // A watchdog that was left counting runs, too, and has no owner.
    let isTaken = runs && !isOurs && !holders.isEmpty
    let cannotStop = machine.read("\(folder)/nowayout") == "1"
    // WDIOF_CARDRESET
    let hasReset = machine.read("\(folder)/bootstatus").flatMap { Int($0) }.map { $0 & 0x20 != 0 } ?? false
    let found = [
      machine.read("\(folder)/identity") ?? name,
      runs ? "running" + (holders.isEmpty ? "" : " for \(holders.joined(separator: ", "))") : "free",
      machine.read("\(folder)/timeout").map { "time-out \($0) s, asked for \(watchdog.timeoutSeconds) s" },
      cannotStop ? "nowayout: it cannot be stopped, so a clean stop of the program resets the board, too" : nil,
      hasReset ? "it has caused the last reset" : nil,
    ]
    return Diagnosis(
      name: "watchdog", status: isTaken ? .fail : cannotStop || hasReset ? .warn : .ok,
      found: found.compactMap(\.self).joined(separator: ", "), why: why,
      fix: isTaken
        ? "remove RuntimeWatchdogSec= from systemd's configuration && sudo systemctl daemon-reexec, or stop who has it"
        : cannotStop
          ? "load its driver without nowayout=1; or leave it so, and expect a reset after each stop"
          : hasReset ? "journalctl --boot=-1 --lines=50 shows what came before" : nil)
  }

  private var missing: String {
    isPi
      ? "\(Self.setup) && sudo reboot" : "sudo modprobe softdog, which a kernel that hangs stops, too"
  }
}

extension Machine {
  /// Returns the processes that have one of the paths open, as far as this process may see them: `4711 systemd`.
  static func currentHolders(of paths: [String]) -> [String] {
    Set(holders(of: Set(paths)).values.map { "\($0.process) \($0.name)" }).sorted()
  }

  /// Returns the process that has each path open, and the one with the lowest number if several have. A path without
  /// such a process is missing in the result.
  static func holders(of paths: Set<String>) -> [String: (process: Int, name: String)] {
    var holders: [String: (process: Int, name: String)] = [:]
    for process in names(in: "/proc").compactMap({ Int($0) }).sorted() {
      for descriptor in names(in: "/proc/\(process)/fd") {
        var target = [CChar](repeating: 0, count: 256)
        let length = readlink("/proc/\(process)/fd/\(descriptor)", &target, target.count - 1)
        guard length > 0 else { continue }
        let path = String(decoding: target.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard paths.contains(path), holders[path] == nil else { continue }
        let name = (YAMLFile.contents(of: "/proc/\(process)/comm") ?? "").unicodeScalars.filter { $0.value >= 0x20 }
        holders[path] = (process, String(String.UnicodeScalarView(name)))
      }
    }
    return holders
  }
}
