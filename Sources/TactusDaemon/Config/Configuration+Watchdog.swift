import TactusGuard

extension Configuration {
  /// What is wrong with the hardware watchdog. A path that is not there is left to the start and to `doctor`: the file may be meant for
  /// another machine.
  func watchdogErrors(_ places: ConfigPlaces) -> [ConfigError] {
    let key = "runtime.watchdog"
    guard let watchdog else { return [] }
    guard watchdog.path.hasPrefix("/") else {
      let expected = "expected an absolute path such as /dev/watchdog"
      return [places.error(file, key, "\(expected), got \(watchdog.path)", alone: true)]
    }
    if let flaw = HardwareWatchdog.flaw(path: watchdog.path) {
      return [places.error(file, key, "\(watchdog.path): \(flaw)", alone: true)]
    }
    guard guardEnabled else {
      return [places.error(file, key, "expected safety.watchdog_enabled: true, since the guard feeds it")]
    }
    return []
  }

  /// Place in the file that names a hardware watchdog which does not exist, or `nil` if it exists, or none is named.
  func missingWatchdog(_ places: ConfigPlaces) -> ConfigError? {
    guard let watchdog, !HardwareWatchdog.isThere(watchdog.path) else { return nil }
    return places.error(
      file, "runtime.watchdog",
      "expected a watchdog, got nothing at \(watchdog.path); `\(DaemonProgram.current.name) doctor` says more")
  }
}
